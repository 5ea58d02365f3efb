// Divisor: division by a number that stays the same, as a product and a shift.
//
// Granlund and Montgomery, "Division by Invariant Integers using Multiplication", 1994, figure 4.1, for 32 bits.
#pragma once

#include <keyway/core/base/macros.h>

#include <bit>
#include <cstdint>

namespace keyway::inline v1::cuda {

struct Divisor {
  std::uint32_t value = 1;
  std::uint32_t magic = 1;
  std::uint32_t shift = 0;

  Divisor() = default;
  // Requires: 1 <= divisor < 2^31.
  constexpr explicit Divisor(std::uint32_t divisor)
      : value(divisor),
        magic(static_cast<std::uint32_t>(
            (((std::uint64_t{1} << std::bit_width(divisor - 1)) - divisor) << 32) / divisor + 1)),
        shift(static_cast<std::uint32_t>(std::bit_width(divisor - 1))) {}

  // Requires: n < 2^31, so that the sum below has no carry.
  KEYWAY_HD constexpr std::uint32_t quotient(std::uint32_t n) const {
    const auto high = static_cast<std::uint32_t>((std::uint64_t{n} * magic) >> 32);
    return (high + n) >> shift;
  }
};

}  // namespace keyway::inline v1::cuda
