// decaying_exp: e^x for x <= 0, in a form that the compiler makes vector code of.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace keyway::inline v1 {

// Within 2 ulp for x <= 0; NaN gives NaN, and what is beyond float32 gives infinity. Requires: x is not above 120.
//
// e^x = 2^k e^r with k = round(x / ln 2), so |r| <= ln(2) / 2, where eight terms of the series leave an error
// of r^8 / 8!, below 2^-27. The rounding is an addition of 1.5 * 2^23, after which k stands in the low bits.
// 2^k is multiplied in as two factors, of which each is normal, so that results fade out through subnormals.
[[gnu::always_inline]] inline float decaying_exp(float x) {
  constexpr float kShift = 0x1.8p23f;
  x = x < -120.0f ? -120.0f : x;  // where 0 is right, and far from where k would leave its range
  const float shifted = x * 1.44269504f + kShift;
  const std::uint32_t k = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(kShift);
  const float rounded = shifted - kShift;
  // ln 2 in two parts: the first has few bits, so that its multiples are exact.
  const float r = (x - rounded * 0x1.63p-1f) - rounded * -0x1.bd0106p-13f;
  float series = 1.0f / 5040.0f;
  series = series * r + 1.0f / 720.0f;
  series = series * r + 1.0f / 120.0f;
  series = series * r + 1.0f / 24.0f;
  series = series * r + 1.0f / 6.0f;
  series = series * r + 0.5f;
  series = series * r * r + r + 1.0f;
  const auto half = static_cast<std::uint32_t>(static_cast<std::int32_t>(k) >> 1);
  const float first = std::bit_cast<float>((half + 127u) << 23);
  const float second = std::bit_cast<float>((k - half + 127u) << 23);
  return series * first * second;
}
inline double decaying_exp(double x) { return std::exp(x); }

// The same of a number that should not be above 0, but may be, as a caller gave it.
[[gnu::always_inline]] inline float given_decaying_exp(float x) { return decaying_exp(x > 120.0f ? 120.0f : x); }
inline double given_decaying_exp(double x) { return std::exp(x); }

}  // namespace keyway::inline v1
