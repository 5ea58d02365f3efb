// VectorMath: StandardMath with functions that the compiler vectorises in their place, for float and partly
// for double.
//
// Greatest errors over all floats, in units in the last place: exp 1.0, log 0.8, tanh 2.3, sigmoid 2.3, erf
// 0.9, the share of normal 7; all others are computed in double and have 0.51.
#pragma once

#include <keyway/backends/cpu/simd/single.h>
#include <keyway/backends/cpu/simd/wide.h>
#include <keyway/ops/functors/math.h>

namespace keyway::inline v1::simd {

template <SimdLevel level>
struct VectorMath : StandardMath {
  using S = Single<level>;
  using W = Wide<level>;

  using StandardMath::exp;
  KEYWAY_INLINE static float exp(float x) { return S::exp(x); }
  KEYWAY_INLINE static double exp(double x) { return W::exp(x); }
  using StandardMath::log;
  KEYWAY_INLINE static float log(float x) { return S::log(x); }
  KEYWAY_INLINE static double log(double x) { return W::log(x); }
  using StandardMath::tanh;
  KEYWAY_INLINE static float tanh(float x) { return S::tanh(x); }
  using StandardMath::sigmoid;
  KEYWAY_INLINE static float sigmoid(float x) { return S::sigmoid(x); }
  using StandardMath::normal;
  KEYWAY_INLINE static Normal<float> normal(float x) {
    const auto [share, density] = S::normal(x);
    return {share, density};
  }

  using StandardMath::erf;
  KEYWAY_INLINE static float erf(float x) { return rounded(W::erf(x)); }
  using StandardMath::expm1;
  KEYWAY_INLINE static float expm1(float x) { return S::expm1(x); }
  KEYWAY_INLINE static double expm1(double x) { return W::expm1(x); }
  using StandardMath::log1p;
  KEYWAY_INLINE static float log1p(float x) { return S::log1p(x); }
  KEYWAY_INLINE static double log1p(double x) { return W::log1p(x); }
  using StandardMath::exp2;
  KEYWAY_INLINE static float exp2(float x) { return rounded(W::exp(x * 0x1.62e42fefa39efp-1)); }
  using StandardMath::log2;
  KEYWAY_INLINE static float log2(float x) { return rounded(W::log(x) * 0x1.71547652b82fep+0); }
  using StandardMath::log10;
  KEYWAY_INLINE static float log10(float x) { return rounded(W::log(x) * 0x1.bcb7b1526e50ep-2); }
  using StandardMath::pow;
  KEYWAY_INLINE static float pow(float x, float y) { return rounded(W::pow(x, y)); }

  using StandardMath::sin;
  KEYWAY_INLINE static float sin(float x) { return rounded(W::sin(x)); }
  using StandardMath::cos;
  KEYWAY_INLINE static float cos(float x) { return rounded(W::cos(x)); }
  using StandardMath::tan;
  KEYWAY_INLINE static float tan(float x) { return rounded(W::tan(x)); }
  // Which angles the three above take.
  KEYWAY_INLINE static bool is_small_angle(float x) { return __builtin_fabsf(x) < static_cast<float>(W::kSmallAngle); }

  using StandardMath::asin;
  KEYWAY_INLINE static float asin(float x) { return rounded(W::asin(x)); }
  using StandardMath::acos;
  KEYWAY_INLINE static float acos(float x) { return rounded(W::acos(x)); }
  using StandardMath::atan;
  KEYWAY_INLINE static float atan(float x) { return rounded(W::atan(x)); }
  using StandardMath::atan2;
  KEYWAY_INLINE static float atan2(float y, float x) { return rounded(W::atan2(y, x)); }
  using StandardMath::sinh;
  KEYWAY_INLINE static float sinh(float x) { return rounded(W::sinh(x)); }
  using StandardMath::cosh;
  KEYWAY_INLINE static float cosh(float x) { return rounded(W::cosh(x)); }
  using StandardMath::asinh;
  KEYWAY_INLINE static float asinh(float x) { return rounded(W::asinh(x)); }
  using StandardMath::acosh;
  KEYWAY_INLINE static float acosh(float x) { return rounded(W::acosh(x)); }
  using StandardMath::atanh;
  KEYWAY_INLINE static float atanh(float x) { return rounded(W::atanh(x)); }

 private:
  KEYWAY_INLINE static float rounded(double x) { return static_cast<float>(x); }
};

}  // namespace keyway::inline v1::simd
