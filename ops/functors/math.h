// StandardMath: elementary functions of real and complex numbers, for functors to call.
//
// A functor that needs them computes in a member template,
//   template <typename Math> T with(Math m, T x) const;      e.g. static_cast<T>(m.exp(opmath(x)))
// and operator() is with(StandardMath(), ...). So a backend can put its own functions under the same names in
// their place: the CPU's loops pass functions that the compiler vectorises (backends/cpu/simd).
#pragma once

#include <keyway/ops/functors/opmath.h>

#include <cmath>
#include <complex>
#if defined(__CUDACC__) || defined(KEYWAY_COMPLEX_OF_DEVICES)
#include <thrust/complex.h>
#endif

namespace keyway::inline v1 {

namespace detail {
// Where complex functions come from. std's are the host's alone, and the formulas of cuda::std overflow, cancel, and
// leave the branch: its sqrt(-1e4) has a negative real part, its asinh(-1e4) is -inf in complex64.
#if defined(__CUDACC__) || defined(KEYWAY_COMPLEX_OF_DEVICES)
namespace complex_library = ::thrust;
#else
namespace complex_library = ::std;
#endif
}  // namespace detail

// Real functions are the C library's; complex ones the complex library's where it has them.
struct StandardMath {
  template <typename T>
  using LibraryComplex = detail::complex_library::complex<T>;

  template <std::floating_point T>
  KEYWAY_HD static LibraryComplex<T> to_library(complex<T> z) {
    return {z.real(), z.imag()};
  }
  template <std::floating_point T>
  KEYWAY_HD static complex<T> from_library(LibraryComplex<T> z) {
    return {z.real(), z.imag()};
  }

#define KEYWAY_MATH_FUNCTION(name)                                        \
  template <std::floating_point T>                                        \
  KEYWAY_HD static T name(T x) {                                          \
    return std::name(x);                                                  \
  }                                                                       \
  template <std::floating_point T>                                        \
  KEYWAY_HD static complex<T> name(complex<T> z) {                        \
    return from_library<T>(detail::complex_library::name(to_library(z))); \
  }
  KEYWAY_MATH_FUNCTION(exp)
  KEYWAY_MATH_FUNCTION(log)
  KEYWAY_MATH_FUNCTION(log10)
  KEYWAY_MATH_FUNCTION(sqrt)
  KEYWAY_MATH_FUNCTION(sin)
  KEYWAY_MATH_FUNCTION(cos)
  KEYWAY_MATH_FUNCTION(asin)
  KEYWAY_MATH_FUNCTION(acos)
  KEYWAY_MATH_FUNCTION(atan)
  KEYWAY_MATH_FUNCTION(sinh)
  KEYWAY_MATH_FUNCTION(cosh)
  KEYWAY_MATH_FUNCTION(asinh)
  KEYWAY_MATH_FUNCTION(acosh)
  KEYWAY_MATH_FUNCTION(atanh)
#undef KEYWAY_MATH_FUNCTION

  template <std::floating_point T>
  KEYWAY_HD static T tanh(T x) {
    return std::tanh(x);
  }
  // Imaginary numbers have imaginary ones, though these may be NaN, which the devices' library does not know.
  template <std::floating_point T>
  KEYWAY_HD static complex<T> tanh(complex<T> z) {
    if (z.real() == 0 && !std::isfinite(z.imag())) return {z.real(), z.imag() - z.imag()};
    return from_library<T>(detail::complex_library::tanh(to_library(z)));
  }
  template <std::floating_point T>
  KEYWAY_HD static T tan(T x) {
    return std::tan(x);
  }
  // Likewise of real ones.
  template <std::floating_point T>
  KEYWAY_HD static complex<T> tan(complex<T> z) {
    if (z.imag() == 0 && !std::isfinite(z.real())) return {z.real() - z.real(), z.imag()};
    return from_library<T>(detail::complex_library::tan(to_library(z)));
  }

  template <std::floating_point T>
  KEYWAY_HD static T exp2(T x) {
    return std::exp2(x);
  }
  template <std::floating_point T>
  KEYWAY_HD static complex<T> exp2(complex<T> z) {
    return exp(z * static_cast<T>(0.693147180559945309417));
  }

  template <std::floating_point T>
  KEYWAY_HD static T log2(T x) {
    return std::log2(x);
  }
  template <std::floating_point T>
  KEYWAY_HD static complex<T> log2(complex<T> z) {
    return log(z) / static_cast<T>(0.693147180559945309417);
  }

  template <std::floating_point T>
  KEYWAY_HD static T expm1(T x) {
    return std::expm1(x);
  }
  // e^x cos y - 1 = expm1(x) cos y - 2 sin^2(y / 2): no cancellation near zero. At infinity, and where a part is NaN,
  // as the array API standard has it: what exp is there, less 1.
  template <std::floating_point T>
  KEYWAY_HD static complex<T> expm1(complex<T> z) {
    const T x = z.real(), y = z.imag();
    if (y == 0) return {std::expm1(x), y};
    if (!std::isfinite(x) || !std::isfinite(y)) {
      if (std::isinf(x) && x < 0 && !std::isfinite(y)) return {T(-1), std::copysign(T(0), y)};
      const complex<T> power = exp(z);
      return {power.real() - 1, power.imag()};
    }
    const T half_sin = std::sin(y / 2);
    return {std::expm1(x) * std::cos(y) - 2 * half_sin * half_sin, std::exp(x) * std::sin(y)};
  }

  template <std::floating_point T>
  KEYWAY_HD static T log1p(T x) {
    return std::log1p(x);
  }
  // |1 + z|^2 - 1 = x (2 + x) + y^2.
  template <std::floating_point T>
  KEYWAY_HD static complex<T> log1p(complex<T> z) {
    const T x = z.real(), y = z.imag();
    const T angle = std::atan2(y, 1 + x);
    if (std::abs(x) < T(0.5) && std::abs(y) < T(0.5)) return {std::log1p(x * (2 + x) + y * y) / 2, angle};
    return {log(complex<T>(1 + x, y)).real(), angle};  // hypot overflows
  }

  template <std::floating_point T>
  KEYWAY_HD static T pow(T x, T y) {
    return std::pow(x, y);
  }
  template <std::floating_point T>
  KEYWAY_HD static complex<T> pow(complex<T> x, complex<T> y) {
    return from_library<T>(detail::complex_library::pow(to_library(x), to_library(y)));
  }

  template <std::floating_point T>
  KEYWAY_HD static T atan2(T y, T x) {
    return std::atan2(y, x);
  }
  template <std::floating_point T>
  KEYWAY_HD static T erf(T x) {
    return std::erf(x);
  }
  // The standard normal distribution at x: how much of it lies below, and its density.
  template <std::floating_point T>
  struct Normal {
    T share, density;
  };
  template <std::floating_point T>
  KEYWAY_HD static Normal<T> normal(T x) {
    constexpr bool kSingle = sizeof(T) == sizeof(float);
    // sqrt(1/2) in two parts. The tail shows that an argument of erfc was rounded, as its derivative times that.
    constexpr T kHigh = kSingle ? T(0x1.6a09e6p-1) : T(0x1.6a09e667f3bcdp-1);
    constexpr T kLow = kSingle ? T(0x1.9fcef4p-27) : T(-0x1.bdd3413b26456p-55);
    const T at = -x * kHigh, share = std::erfc(at) / 2;
    const T lost = std::fma(-x, kHigh, -at) - x * kLow;
    const bool is_tail = at > T(1) && at < T(30);
    return {is_tail ? share - 2 * at * lost * share : share, std::exp(x * x / -2) * T(0.398942280401432677940)};
  }
  // 1 / (1 + e^-x). The exponential is never a large one, which would overflow where the result does not.
  template <typename T>
  KEYWAY_HD static T sigmoid(T x) {
    bool is_below = false;
    if constexpr (kIsComplex<T>) {
      is_below = x.real() < 0;
    } else {
      is_below = x < 0;
    }
    const T e = exp(is_below ? x : -x);
    return (is_below ? e : T(1)) / (T(1) + e);
  }
};

}  // namespace keyway::inline v1

// Defines a functor of one argument that is one function of the mathematics.
#define KEYWAY_ELEMENTARY_FUNCTOR(Name, function)                         \
  template <typename T>                                                   \
  struct Name {                                                           \
    KEYWAY_HD T operator()(T x) const { return with(StandardMath(), x); } \
    template <typename Math>                                              \
    KEYWAY_HD T with(Math m, T x) const {                                 \
      return static_cast<T>(m.function(opmath(x)));                       \
    }                                                                     \
  };
