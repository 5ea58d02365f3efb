// Bits of floating-point values, and rounding to odd, for host and device code alike.
#pragma once

#include <keyway/core/base/macros.h>

#include <concepts>
#include <cstdint>

namespace keyway::inline v1::detail {

// std::bit_cast, also in device code.
template <typename To, typename From>
KEYWAY_HD constexpr To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

// What converts to a narrow float by way of round_to_odd().
template <typename T>
concept DoubleOrIntegral = std::same_as<T, double> || std::integral<T>;

// `x` rounded to odd: exact if a float holds it, else the neighbouring float whose last bit is set. Rounding
// that once more, to nearest and to a format of at most 22 significant bits, gives what rounding `x` itself
// would: no double rounding. Finite values beyond float's range give the largest float. NaN stays NaN.
KEYWAY_HD constexpr float round_to_odd(double x) {
  constexpr double kMax = 0x1.fffffep127;
  const std::uint64_t wide = bit_cast<std::uint64_t>(x);
  const double magnitude = bit_cast<double>(wide & 0x7fffffffffffffffu);
  const bool beyond = magnitude > kMax && magnitude < bit_cast<double>(std::uint64_t{0x7ff0000000000000u});
  const float nearest = static_cast<float>(beyond ? kMax : magnitude);
  const double back = static_cast<double>(nearest);
  std::uint32_t bits = bit_cast<std::uint32_t>(nearest);
  const bool even = (bits & 1u) == 0;
  const std::uint32_t up = even && back < magnitude ? 1u : 0u;
  const std::uint32_t down = even && back > magnitude ? 1u : 0u;
  bits += up;
  bits -= down;
  return bit_cast<float>(bits | static_cast<std::uint32_t>(wide >> 32 & 0x80000000u));
}

// The same from an integer of any size.
template <std::integral I>
KEYWAY_HD constexpr float round_to_odd(I x) {
  if constexpr (sizeof(I) <= 2) {
    return static_cast<float>(x);
  } else if constexpr (sizeof(I) <= 4) {
    return round_to_odd(static_cast<double>(x));
  } else {
    // Gather the low bits into a sticky one, so that the step to double is exact.
    const bool negative = x < I{0};
    std::uint64_t m = static_cast<std::uint64_t>(x);
    m = negative ? std::uint64_t{0} - m : m;
    const std::uint64_t low = m & 0x7ffu;
    if (m >> 53 != 0 && low != 0) m = (m ^ low) | 0x800u;
    const double d = static_cast<double>(m);
    return round_to_odd(negative ? -d : d);
  }
}

}  // namespace keyway::inline v1::detail
