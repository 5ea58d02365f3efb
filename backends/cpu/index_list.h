// Index tensors, tested before anything is read or written with them.
#pragma once

#include <keyway/core/tensor/tensor_base.h>

#include <cstdint>
#include <string_view>

namespace keyway::inline v1 {

// Throws keyway::Error(Index) if an element of `index`, an int32 or int64 tensor, is not in [low, high):
//   argument 'index' has 7 at position 3, but must be in [0, 5)
// Positions count in row-major order; the lowest is named.
void check_indices(const TensorBase& index, std::string_view argument, std::int64_t low, std::int64_t high);

// The elements as a row-major int64 tensor, `index` itself where it is that; tested as above. Those below 0,
// where `low` allows them, count from `high`.
TensorBase index_list(const TensorBase& index, std::string_view argument, std::int64_t low, std::int64_t high);

}  // namespace keyway::inline v1
