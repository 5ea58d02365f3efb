// Geometry: arithmetic on sizes and strides, every product and sum of it checked for overflow.
#pragma once

#include <keyway/core/base/array_ref.h>
#include <keyway/core/base/macros.h>
#include <keyway/core/base/small_vector.h>
#include <keyway/core/tensor/memory_format.h>

#include <cstddef>
#include <cstdint>

namespace keyway::inline v1 {

inline constexpr std::int64_t kMaxDims = 64;

// Number of elements. Throws keyway::Error if a size is negative, if there are more than 64, or if the
// product exceeds 2^63 - 1.
KEYWAY_API std::int64_t checked_numel(IntArrayRef sizes);

// Bytes that a tensor of this geometry reaches from the start of its storage. Throws keyway::Error on overflow, and on
// a negative size, stride or offset.
KEYWAY_API std::size_t checked_nbytes(IntArrayRef sizes, IntArrayRef strides, std::int64_t offset,
                                      std::size_t itemsize);

// Row-major strides; a size of 0 counts as 1, as in PyTorch. Requires: checked_numel(sizes) did not throw.
KEYWAY_API DimVector contiguous_strides(IntArrayRef sizes);
// Strides in a memory format (not Preserve). Throws keyway::Error if the format does not fit the rank.
KEYWAY_API DimVector strides_for(IntArrayRef sizes, MemoryFormat format);

// The layout of a tensor. Require: checked_numel(sizes) did not throw. Without elements each is true of a fitting rank.
KEYWAY_API bool is_contiguous(IntArrayRef sizes, IntArrayRef strides);
KEYWAY_API bool is_channels_last(IntArrayRef sizes, IntArrayRef strides);
// Elements fill one run of memory in some order of dimensions, each location once.
KEYWAY_API bool is_non_overlapping_and_dense(IntArrayRef sizes, IntArrayRef strides);
// Whether two indices may lead to one location: a dimension of more than one element with stride 0, or strides that
// interleave. Exact for dense tensors, and on the safe side for others.
KEYWAY_API bool overlaps_itself(IntArrayRef sizes, IntArrayRef strides);

// `dim` counted from the front: -1 is the last. A tensor without dimensions has the dims -1 and 0.
// Throws keyway::Error(Index).
KEYWAY_API std::int64_t wrap_dim(std::int64_t dim, std::int64_t rank);
// The same as an index into as many sizes, of which a tensor without dimensions has none.
KEYWAY_API std::size_t dim_index(std::int64_t dim, std::int64_t rank);

}  // namespace keyway::inline v1
