// How a loss becomes one number: the `reduction` argument of loss functions, an int in their schemas.
#pragma once

#include <cstdint>

namespace keyway::inline v1::Reduction {

// Numbers are PyTorch's.
inline constexpr std::int64_t None = 0;
inline constexpr std::int64_t Mean = 1;
inline constexpr std::int64_t Sum = 2;

}  // namespace keyway::inline v1::Reduction
