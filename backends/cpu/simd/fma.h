// Fused multiply-add and polynomials, for the vector forms of elementary functions.
//
// These forms are scalar C++ without branches, calls and tables, which the compiler turns into vector code in
// the loops that inline them, at each instruction-set level. Where there is an instruction for it they fuse,
// and say so, so that AVX2 and AVX-512 give the same bits; plain SSE2 multiplies and adds, and may differ in
// the last place.
#pragma once

#include <keyway/backends/cpu/simd/level.h>

#include <cstddef>

namespace keyway::inline v1::simd {

// a * b + c.
template <SimdLevel level>
KEYWAY_INLINE float fma(float a, float b, float c) {
  if constexpr (has_fma(level)) {
    return __builtin_fmaf(a, b, c);
  } else {
    return a * b + c;
  }
}
template <SimdLevel level>
KEYWAY_INLINE double fma(double a, double b, double c) {
  if constexpr (has_fma(level)) {
    return __builtin_fma(a, b, c);
  } else {
    return a * b + c;
  }
}

// c[0] + c[1] x + c[2] x^2 + ..., by Horner's rule.
template <SimdLevel level, typename T, typename... Rest>
KEYWAY_INLINE T polynomial(T x, T c0, Rest... rest) {
  if constexpr (sizeof...(Rest) == 0) {
    return c0;
  } else {
    return fma<level>(x, polynomial<level>(x, rest...), c0);
  }
}

}  // namespace keyway::inline v1::simd
