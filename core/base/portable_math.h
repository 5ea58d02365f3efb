// Elementary functions whose results are the same to the last bit wherever they are computed: of sums, products,
// quotients and roots, which IEEE 754 rounds in one way, in an order that is written here. The functions of libraries
// differ from one to the next, on a device from the host's. Errors are a few units in the last place.
#pragma once

#include <keyway/core/base/bits.h>
#include <keyway/core/base/macros.h>

#include <cstdint>
#include <type_traits>

namespace keyway::inline v1::portable {

namespace detail {

// c + x (c1 + x (c2 + ...)).
template <typename T>
KEYWAY_HD constexpr T polynomial(T, T c) {
  return c;
}
template <typename T, typename... Rest>
KEYWAY_HD constexpr T polynomial(T x, T c, Rest... rest) {
  return c + x * polynomial(x, rest...);
}

// The series of (log((1 + s) / (1 - s)) / s - 2) / s^2 in s^2, as far as a T sees it where |s| <= 0.1716.
KEYWAY_HD constexpr float log_series(float x) { return polynomial(x, 2.0f / 3, 2.0f / 5, 2.0f / 7, 2.0f / 9); }
KEYWAY_HD constexpr double log_series(double x) {
  return polynomial(x, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21);
}

// The series of sin(t) / t and cos(t) in t^2, as far as a T sees them where |t| <= pi / 4.
KEYWAY_HD constexpr float sine_series(float x) {
  return polynomial(x, 1.0f, -1.0f / 6, 1.0f / 120, -1.0f / 5040, 1.0f / 362880);
}
KEYWAY_HD constexpr float cosine_series(float x) {
  return polynomial(x, 1.0f, -1.0f / 2, 1.0f / 24, -1.0f / 720, 1.0f / 40320, -1.0f / 3628800);
}
KEYWAY_HD constexpr double sine_series(double x) {
  return polynomial(x, 1.0, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800,
                    -1.0 / 1307674368000, 1.0 / 355687428096000);
}
KEYWAY_HD constexpr double cosine_series(double x) {
  return polynomial(x, 1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600,
                    -1.0 / 87178291200, 1.0 / 20922789888000, -1.0 / 6402373705728000);
}

template <typename T>
struct Format {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  using Signed = std::make_signed_t<Bits>;
  static constexpr int kMantissa = sizeof(T) == 4 ? 23 : 52;
  static constexpr Signed kBias = sizeof(T) == 4 ? 127 : 1023;
};

}  // namespace detail

// The natural logarithm. Requires: x is positive, finite and not subnormal.
template <typename T>
KEYWAY_HD constexpr T log(T x) {
  using Format = detail::Format<T>;
  using Bits = typename Format::Bits;
  // x = 2^exponent m, with m from sqrt(1/2) to sqrt(2).
  const Bits bits = keyway::detail::bit_cast<Bits>(x);
  const Bits fraction = bits & ((Bits{1} << Format::kMantissa) - 1);
  const T whole = keyway::detail::bit_cast<T>(fraction | static_cast<Bits>(Format::kBias) << Format::kMantissa);
  const bool large = whole > T(1.41421356237309504880);
  const T m = large ? whole * T(0.5) : whole;
  const auto exponent =
      static_cast<T>(static_cast<typename Format::Signed>(bits >> Format::kMantissa) - Format::kBias + (large ? 1 : 0));
  // log(m) is 2 s + s^3 series(s^2) with s = (m - 1) / (m + 1).
  const T above = m - 1, s = above / (m + 1), square = s * s;
  const T of_m = s * (square * detail::log_series(square)) + (s + s);
  // log(2) in two parts: products of the first, which has few bits, are exact.
  const T high = sizeof(T) == 4 ? T(0x1.62ep-1) : T(0x1.62e42fefap-1);
  const T low = sizeof(T) == 4 ? T(0x1.0bfbe8p-15) : T(0x1.cf79abc9e3b3ap-40);
  return exponent * high + (exponent * low + of_m);
}

template <typename T>
struct CosineSine {
  T cosine, sine;
};

// Cosine and sine of a share of a full turn. Requires: 0 <= share <= 1.
template <typename T>
KEYWAY_HD constexpr CosineSine<T> cosine_sine_of_turns(T share) {
  const int quarters = static_cast<int>(4 * share + T(0.5));
  const T rest = share - T(0.25) * static_cast<T>(quarters);  // at most an eighth, and exact
  const T t = T(6.28318530717958647693) * rest, square = t * t;
  const T sine = t * detail::sine_series(square), cosine = detail::cosine_series(square);
  const bool odd = (quarters & 1) != 0;
  const T x = odd ? sine : cosine, y = odd ? cosine : sine;
  const int quadrant = quarters & 3;
  return {quadrant == 1 || quadrant == 2 ? -x : x, quadrant >= 2 ? -y : y};
}

}  // namespace keyway::inline v1::portable
