// How an integer compares with a number of a dtype that does not hold its values, or whose values its dtype does not
// hold: -1, 0 or 1, exactly, and NaN beside a NaN. All comparisons of that with 0 give what they give of the values.
#pragma once

#include <keyway/core/base/bits.h>
#include <keyway/core/base/macros.h>

#include <cstdint>
#include <type_traits>

namespace keyway::inline v1 {

// I is std::int64_t or std::uint64_t, as all narrower integers may be had; floats as double.
template <typename I>
struct CompareWithFloat {
  KEYWAY_HD constexpr float operator()(I a, double b) const {
    // The halves of a as doubles: bits behind the exponents of 2^84 and 2^52 count 2^32 and 1. Not a conversion, for
    // which AVX2 has no instruction.
    constexpr bool kSigned = std::is_signed_v<I>;
    constexpr double kHigh = kSigned ? 0x1p84 + 0x1p63 : 0x1p84;
    const auto bits = static_cast<std::uint64_t>(a);
    const double high =
        detail::bit_cast<double>((bits >> 32) ^ (kSigned ? 0x4530000080000000 : 0x4530000000000000)) - kHigh;
    const double low = detail::bit_cast<double>((bits & 0xffffffff) | 0x4330000000000000) - 0x1p52;
    // Rounding keeps the order of what it leaves apart; where it puts a on b, what it took decides.
    const double rounded = high + low, lost = low - (rounded - high), apart = rounded - b;
    const double difference = apart == 0 ? lost : apart;
    return static_cast<float>(difference < 0 ? -1.0 : difference > 0 ? 1.0 : difference);
  }
};

template <typename I>
struct CompareWithUnsigned {
  KEYWAY_HD constexpr float operator()(I a, std::uint64_t b) const {
    const auto bits = static_cast<std::uint64_t>(a);
    const bool is_negative = std::is_signed_v<I> && static_cast<std::int64_t>(a) < 0;
    return is_negative || bits < b ? -1.0f : bits > b ? 1.0f : 0.0f;
  }
};

}  // namespace keyway::inline v1
