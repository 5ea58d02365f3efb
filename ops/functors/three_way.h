// How an integer compares with a number of a dtype that does not hold its values, or whose values its dtype does not
// hold: -1, 0 or 1, exactly, and NaN beside a NaN. All comparisons of that with 0 give what they give of the values.
#pragma once

#include <keyway/core/base/macros.h>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace keyway::inline v1 {

namespace detail {

template <typename T>
KEYWAY_HD constexpr float three_way(T a, T b) {
  return a < b ? -1.0f : a > b ? 1.0f : 0.0f;
}

}  // namespace detail

// I is std::int64_t or std::uint64_t, as all narrower integers may be had; floats as double.
template <typename I>
struct CompareWithFloat {
  KEYWAY_HD constexpr float operator()(I a, double b) const {
    // Rounding keeps the order of what it leaves apart. What it puts on b is compared with that as an integer; all are
    // less than 2^63 (2^64), which no I is.
    constexpr double kBeyond = std::is_signed_v<I> ? 0x1p63 : 0x1p64;
    const auto rounded = static_cast<double>(a);
    const bool beyond = b >= kBeyond;
    const bool on_b = rounded == b;
    const float exact = beyond ? -1.0f : detail::three_way(a, static_cast<I>(on_b && !beyond ? b : 0.0));
    const float apart = rounded < b ? -1.0f : rounded > b ? 1.0f : std::numeric_limits<float>::quiet_NaN();
    return on_b ? exact : apart;
  }
};

template <typename I>
struct CompareWithUnsigned {
  KEYWAY_HD constexpr float operator()(I a, std::uint64_t b) const {
    return a < I(0) ? -1.0f : detail::three_way(static_cast<std::uint64_t>(a), b);
  }
};

}  // namespace keyway::inline v1
