// Elementary functions of real and complex numbers under one set of names, for functors to call.
//
// Real ones are those of the C library; complex ones are std::complex's where it has them.
#pragma once

#include <keyway/ops/functors/opmath.h>

#include <cmath>
#include <complex>

namespace keyway::inline v1::math {

namespace detail {
template <typename T>
std::complex<T> to_std(complex<T> z) {
  return static_cast<std::complex<T>>(z);
}
}  // namespace detail

#define KEYWAY_MATH_FUNCTION(name)                   \
  template <std::floating_point T>                   \
  KEYWAY_HD inline T name(T x) {                     \
    return std::name(x);                             \
  }                                                  \
  template <std::floating_point T>                   \
  complex<T> name(complex<T> z) {                    \
    return complex<T>(std::name(detail::to_std(z))); \
  }
KEYWAY_MATH_FUNCTION(exp)
KEYWAY_MATH_FUNCTION(log)
KEYWAY_MATH_FUNCTION(log10)
KEYWAY_MATH_FUNCTION(sqrt)
KEYWAY_MATH_FUNCTION(sin)
KEYWAY_MATH_FUNCTION(cos)
KEYWAY_MATH_FUNCTION(tan)
KEYWAY_MATH_FUNCTION(asin)
KEYWAY_MATH_FUNCTION(acos)
KEYWAY_MATH_FUNCTION(atan)
KEYWAY_MATH_FUNCTION(sinh)
KEYWAY_MATH_FUNCTION(cosh)
KEYWAY_MATH_FUNCTION(tanh)
KEYWAY_MATH_FUNCTION(asinh)
KEYWAY_MATH_FUNCTION(acosh)
KEYWAY_MATH_FUNCTION(atanh)
#undef KEYWAY_MATH_FUNCTION

template <std::floating_point T>
KEYWAY_HD inline T exp2(T x) {
  return std::exp2(x);
}
template <std::floating_point T>
complex<T> exp2(complex<T> z) {
  return exp(z * static_cast<T>(0.693147180559945309417));
}

template <std::floating_point T>
KEYWAY_HD inline T log2(T x) {
  return std::log2(x);
}
template <std::floating_point T>
complex<T> log2(complex<T> z) {
  return log(z) / static_cast<T>(0.693147180559945309417);
}

template <std::floating_point T>
KEYWAY_HD inline T expm1(T x) {
  return std::expm1(x);
}
// e^x cos y - 1 = expm1(x) cos y - 2 sin^2(y / 2): no cancellation near zero.
template <std::floating_point T>
complex<T> expm1(complex<T> z) {
  const T x = z.real(), y = z.imag();
  const T half_sin = std::sin(y / 2);
  return {std::expm1(x) * std::cos(y) - 2 * half_sin * half_sin, std::exp(x) * std::sin(y)};
}

template <std::floating_point T>
KEYWAY_HD inline T log1p(T x) {
  return std::log1p(x);
}
// |1 + z|^2 - 1 = x (2 + x) + y^2.
template <std::floating_point T>
complex<T> log1p(complex<T> z) {
  const T x = z.real(), y = z.imag();
  const T angle = std::atan2(y, 1 + x);
  if (std::abs(x) < T(0.5) && std::abs(y) < T(0.5)) return {std::log1p(x * (2 + x) + y * y) / 2, angle};
  return {std::log(std::hypot(1 + x, y)), angle};
}

template <std::floating_point T>
KEYWAY_HD inline T pow(T x, T y) {
  return std::pow(x, y);
}
template <std::floating_point T>
complex<T> pow(complex<T> x, complex<T> y) {
  return complex<T>(std::pow(detail::to_std(x), detail::to_std(y)));
}

}  // namespace keyway::inline v1::math
