// Quotients of integers that are rounded up.
#pragma once

#include <concepts>

namespace at {

// Requires: numbers above 0.
template <std::integral T>
constexpr T ceil_div(T a, T b) {
  return (a + b - 1) / b;
}
// The next multiple of b.
template <std::integral T>
constexpr T round_up(T a, T b) {
  return ceil_div(a, b) * b;
}

}  // namespace at
