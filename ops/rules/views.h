// Geometry of views: where in the storage of `self` the elements of a view lie. Pure functions of metadata; what they
// refuse, they refuse with an error, whatever the integers. Dimensions may count from the end.
#pragma once

#include <keyway/core/base/small_vector.h>
#include <keyway/core/tensor/tensor_base.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace keyway::inline v1 {

struct ViewGeometry {
  DimVector sizes;
  DimVector strides;
  std::int64_t offset = 0;  // in elements, from the start of the storage
};

// The same of a view whose elements are of another dtype.
struct DtypeViewGeometry : ViewGeometry {
  ScalarType dtype = ScalarType::Undefined;
};

namespace rules {

KEYWAY_API ViewGeometry alias(const TensorBase& self);
// Errors: elements outside the storage. Requires: as many strides as sizes, none negative.
KEYWAY_API ViewGeometry as_strided(const TensorBase& self, IntArrayRef size, IntArrayRef stride,
                                   std::optional<std::int64_t> storage_offset);
// The elements of matrices whose column is their row plus `offset`, last. Requires: two different dimensions.
KEYWAY_API ViewGeometry diagonal(const TensorBase& self, std::int64_t offset, std::int64_t dim1, std::int64_t dim2);
// -1 keeps the size of a dimension that is there.
KEYWAY_API ViewGeometry expand(const TensorBase& self, IntArrayRef size, bool implicit = false);
// Requires: is_permutation(dims).
KEYWAY_API ViewGeometry permute(const TensorBase& self, IntArrayRef dims);
// Requires: index is one of dim, maybe from the end.
KEYWAY_API ViewGeometry select(const TensorBase& self, std::int64_t dim, std::int64_t index);
// Bounds count from the end where negative, and are cut to the size. Requires: step > 0.
KEYWAY_API ViewGeometry slice(const TensorBase& self, std::int64_t dim, std::optional<std::int64_t> start,
                              std::optional<std::int64_t> end, std::int64_t step);
// Parts along `dim`. Requires: sizes that are not negative and add up to its own.
KEYWAY_API std::vector<ViewGeometry> split_with_sizes(const TensorBase& self, IntArrayRef split_sizes,
                                                      std::int64_t dim);
// Without all dimensions of size 1, or those of the given ones that have it.
KEYWAY_API ViewGeometry squeeze(const TensorBase& self);
KEYWAY_API ViewGeometry squeeze(const TensorBase& self, std::int64_t dim);
KEYWAY_API ViewGeometry squeeze(const TensorBase& self, IntArrayRef dim);
KEYWAY_API ViewGeometry transpose(const TensorBase& self, std::int64_t dim0, std::int64_t dim1);
// At each index of `dim`.
KEYWAY_API std::vector<ViewGeometry> unbind(const TensorBase& self, std::int64_t dim);
// Windows of `size` elements, `step` apart, last. Requires: 0 <= size <= that of the dimension, step > 0.
KEYWAY_API ViewGeometry unfold(const TensorBase& self, std::int64_t dimension, std::int64_t size, std::int64_t step);
KEYWAY_API ViewGeometry unsqueeze(const TensorBase& self, std::int64_t dim);
// Errors: another number of elements; strides that the new sizes cannot have.
KEYWAY_API ViewGeometry view(const TensorBase& self, IntArrayRef size);
// Pairs of real numbers, last, as complex ones. Errors: pairs that do not begin at even offsets of the storage.
KEYWAY_API DtypeViewGeometry view_as_complex(const TensorBase& self);
// Requires: a complex tensor.
KEYWAY_API DtypeViewGeometry view_as_real(const TensorBase& self);
// Errors: bytes that do not make up whole elements of `dtype`.
KEYWAY_API DtypeViewGeometry view_dtype(const TensorBase& self, ScalarType dtype);

}  // namespace rules

// `shape` with its -1, if there is one, worked out. Errors: another number of elements, or several -1.
KEYWAY_API DimVector infer_shape(IntArrayRef shape, std::int64_t numel);
// The strides with which the elements of a tensor lie in `shape` in the same order; nothing if none do.
// Requires: equal numbers of elements.
KEYWAY_API std::optional<DimVector> view_strides(IntArrayRef sizes, IntArrayRef strides, IntArrayRef shape);

}  // namespace keyway::inline v1
