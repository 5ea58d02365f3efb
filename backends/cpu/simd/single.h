// Elementary functions of float, computed in float: those that networks spend their time in.
//
// Coefficients are minimax fits (Remez, and Lawson's iteration for the rational one) made for these files.
// Errors are in units in the last place, the greatest over all 2^32 floats, found by comparing each with the
// C library's double result; tests/backends/cpu/simd_test.cpp holds them to it.
#pragma once

#include <keyway/backends/cpu/simd/fma.h>

#include <cstdint>

namespace keyway::inline v1::simd {

template <SimdLevel level>
struct Single {
  // 2^n r with |r| <= ln(2) / 2, r being what exp() is left with.
  struct Reduced {
    float rest;
    std::uint32_t n;  // in its low nine bits, two's complement
  };

  // x / ln(2) is rounded to an integer by adding 1.5 * 2^23, whose last bits are then that integer.
  KEYWAY_INLINE static Reduced reduce(float x) {
    constexpr float kLog2e = 0x1.715476p+0f, kMagic = 0x1.8p+23f;
    // ln(2) in two parts; a product of the first, of 15 bits, with an n of nine is exact.
    constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;
    const float shifted = fma<level>(x, kLog2e, kMagic);
    const float n = shifted - kMagic;
    return {fma<level>(n, -kLn2Low, fma<level>(n, -kLn2High, x)), __builtin_bit_cast(std::uint32_t, shifted)};
  }

  // exp(r) - 1.
  KEYWAY_INLINE static float expm1_of_rest(float r) {
    const float q =
        polynomial<level>(r, 0x1p-1f, 0x1.555556p-3f, 0x1.55546ep-5f, 0x1.1110aap-7f, 0x1.6da9aap-10f, 0x1.a18006p-13f);
    return fma<level>(r * r, q, r);
  }

  // e^x; 0 below -104, infinity above 88.73, gradual underflow between.
  KEYWAY_INLINE static float exp(float x) {
    const Reduced reduced = reduce(x);
    const float p = 1 + expm1_of_rest(reduced.rest);
    // 2^n as a product of two, each in the range of exponents. What is above the low bits is shifted out.
    const std::uint32_t twice = reduced.n + 254, first = twice >> 1, second = twice - first;
    float result = p * __builtin_bit_cast(float, first << 23) * __builtin_bit_cast(float, second << 23);
    result = x < -104.0f ? 0.0f : result;
    return x > 88.8f ? __builtin_inff() : result;
  }

  // e^x - 1. Half of 2^n is a number also for n = 128.
  KEYWAY_INLINE static float expm1(float x) {
    const Reduced reduced = reduce(x < -30.0f ? -30.0f : x);
    const float half = __builtin_bit_cast(float, (reduced.n + 126) << 23);
    float result = fma<level>(half, expm1_of_rest(reduced.rest), half - 0.5f) * 2;
    result = x > 88.8f ? __builtin_inff() : result;
    return x == 0 ? x : result;
  }

  // e^x - 1 for x in [0, 20] and for NaN.
  KEYWAY_INLINE static float expm1_to_20(float x) {
    const Reduced reduced = reduce(x);
    const float scale = __builtin_bit_cast(float, (reduced.n + 127) << 23);
    return fma<level>(scale, expm1_of_rest(reduced.rest), scale - 1);
  }

  // tanh(|x|) = e / (e + 2) with e = e^(2 |x|) - 1; 1 from 9.01 on.
  KEYWAY_INLINE static float tanh(float x) {
    float y = __builtin_fabsf(x) * 2;
    y = y > 20.0f ? 20.0f : y;
    const float e = expm1_to_20(y);
    return __builtin_copysignf(e / (e + 2), x);
  }

  // 1 / (1 + e^-x), without overflow for negative x.
  KEYWAY_INLINE static float sigmoid(float x) {
    const float e = exp(-__builtin_fabsf(x));
    return (x < 0 ? e : 1.0f) / (1 + e);
  }

  // log(1 + f) + e ln(2) for 1 + f in [sqrt(1/2), sqrt(2)).
  KEYWAY_INLINE static float log_of(float e, float f) {
    constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;
    const float p = polynomial<level>(f, 0x1.555548p-2f, -0x1.ffffeap-3f, 0x1.99a512p-3f, -0x1.55641ap-3f,
                                      0x1.232aa4p-3f, -0x1.fafb5cp-4f, 0x1.e6f718p-4f, -0x1.e53e06p-4f, 0x1.1c26cap-4f);
    const float square = f * f;
    const float low = fma<level>(e, kLn2Low, fma<level>(square * f, p, -0.5f * square));
    return fma<level>(e, kLn2High, f + low);
  }
  // What logarithms are outside of (0, inf).
  KEYWAY_INLINE static float log_specials(float x, float result) {
    result = x == __builtin_inff() ? x : result;
    result = x == 0 ? -__builtin_inff() : result;
    return x >= 0 ? result : __builtin_nanf("");
  }
  static constexpr std::uint32_t kOne = 0x3f800000, kSqrtHalf = 0x3f3504f3;

  // The natural logarithm. x = 2^e (1 + f).
  KEYWAY_INLINE static float log(float x) {
    const bool subnormal = x < 0x1p-126f;
    const std::uint32_t up = __builtin_bit_cast(std::uint32_t, subnormal ? x * 0x1p23f : x) + (kOne - kSqrtHalf);
    const auto e = static_cast<float>(static_cast<std::int32_t>(up >> 23) - (subnormal ? 127 + 23 : 127));
    const float f = __builtin_bit_cast(float, (up & 0x007fffff) + kSqrtHalf) - 1;
    return log_specials(x, log_of(e, f));
  }

  // log(1 + x), with what rounding has taken from 1 + x added to f.
  KEYWAY_INLINE static float log1p(float x) {
    const float u = 1 + x;
    const float lost = x > 1 ? 1 - (u - x) : x - (u - 1);
    const std::uint32_t up = __builtin_bit_cast(std::uint32_t, u) + (kOne - kSqrtHalf), biased = up >> 23;
    const auto e = static_cast<float>(static_cast<std::int32_t>(biased) - 127);
    const float f = __builtin_bit_cast(float, (up & 0x007fffff) + kSqrtHalf) - 1;
    // 2^-e; the greatest numbers have lost nothing.
    const float scale = __builtin_bit_cast(float, biased < 254 ? (254 - biased) << 23 : 0u);
    const float result = log_of(e, fma<level>(lost, scale, f));
    return x == 0 ? x : log_specials(u, result);
  }

  // The standard normal distribution at x: how much of it lies below, and its density.
  struct Normal {
    float share, density;
  };

  // The tail beyond a = |x| is e^(-a^2 / 2) r P(1 - 6 r) with r = 1 / (a + 3). What the square loses when it is rounded
  // is taken from what the exponential is left with. From 14.2 on there is no tail, so no power of 2 is below 2^-152:
  // it is taken 2^64 times as great, and the factors that come to it so much less.
  KEYWAY_INLINE static Normal normal(float x) {
    constexpr float kLess = 0x1p-64f;
    float a = __builtin_fabsf(x);
    a = a > 14.5f ? 14.5f : a;
    const float half = 0.5f * a, square = half * a;
    float lost;
    if constexpr (has_fma(level)) {
      lost = fma<level>(half, a, -square);
    } else {
      lost = static_cast<float>(static_cast<double>(half) * a - square);
    }
    const Reduced reduced = reduce(-square);
    const float scale = __builtin_bit_cast(float, (reduced.n + (127 + 64)) << 23);
    const float power = fma<level>(scale, expm1_of_rest(reduced.rest - lost), scale);
    const float r = 1 / (a + 3);
    const float p = polynomial<level>(fma<level>(-6.0f, r, 1.0f), 0x1.754a74p-1f * kLess, -0x1.04c734p-1f * kLess,
                                      0x1.d7146ap-3f * kLess, -0x1.831d84p-5f * kLess, -0x1.576964p-7f * kLess,
                                      0x1.c58272p-8f * kLess, 0x1.19bc0ap-10f * kLess, -0x1.d6ae8ep-11f * kLess,
                                      -0x1.13c3a6p-12f * kLess);
    const float tail = power * (r * p);
    return {x < 0 ? tail : 1 - tail, power * (0x1.988454p-2f * kLess)};
  }
};

}  // namespace keyway::inline v1::simd
