// The stable order of keys: what sorts, and what groups equal indices. Internal to backends/cuda.
#pragma once

#include <keyway/core/tensor/tensor_base.h>

#include <cstdint>

namespace keyway::inline v1::cuda {

// The indices of the keys, from the least key to the greatest, equal keys in the order of their indices.
// Requires: `keys` is a row-major tensor of int64 on a CUDA device, which is current.
// Ensures: the result is a row-major int64 tensor of one dimension and as many elements.
TensorBase stable_order(const TensorBase& keys);

// The same for each row along the last dimension by itself; indices count in the row. Only the first `count` of each
// row are found, what comes after them in the result is of no use.
// Requires: `keys` has a dimension and is a row-major tensor of int32 or int64; count >= 1.
// Ensures: the result is a row-major int64 tensor of the sizes of `keys`.
TensorBase stable_row_order(const TensorBase& keys, std::int64_t count);

}  // namespace keyway::inline v1::cuda
