// What is computed in double precision whatever the dtype.
#pragma once

#include <keyway/ops/functors/opmath.h>

#include <cstddef>
#include <limits>

namespace keyway::inline v1::detail {

inline constexpr double kInfinite = std::numeric_limits<double>::infinity();
inline constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kPi = 3.141592653589793238463;

// function(x...), of doubles, rounded once.
template <auto function, typename T, typename... Others>
KEYWAY_HD T in_double(T x, Others... others) {
  return static_cast<T>(
      static_cast<Opmath<T>>(function(static_cast<double>(opmath(x)), static_cast<double>(opmath(others))...)));
}

// The functor of such a function of one number.
#define KEYWAY_FUNCTOR_IN_DOUBLE(Name, function)                                         \
  template <typename T>                                                                  \
  struct Name {                                                                          \
    KEYWAY_HD T operator()(T x) const { return detail::in_double<detail::function>(x); } \
  };

// The sum of coefficients[k] T_k(t), of Chebyshev's polynomials for t in [-1, 1], by Clenshaw's recurrence.
template <std::size_t n>
KEYWAY_HD double chebyshev_sum(const double (&coefficients)[n], double t) {
  double last = 0, before = 0;
  for (std::size_t k = n - 1; k > 0; --k) {
    const double next = 2 * t * last - before + coefficients[k];
    before = last;
    last = next;
  }
  return t * last - before + coefficients[0];
}

}  // namespace keyway::inline v1::detail
