// The gamma function and its kin.
#pragma once

#include <keyway/ops/functors/in_double.h>

#include <cmath>
#include <cstdint>

namespace keyway::inline v1 {

namespace detail {

// Of x > 0: by recurrence to where the asymptotic series is exact.
KEYWAY_HD inline double digamma_of_positive(double x) {
  double sum = 0;
  for (; x < 10; x += 1) sum -= 1 / x;
  const double y = 1 / (x * x);
  // The Bernoulli numbers B(2k) / 2k.
  const double series =
      y * (1 / 12.0 -
           y * (1 / 120.0 - y * (1 / 252.0 - y * (1 / 240.0 - y * (1 / 132.0 - y * (691 / 32760.0 - y / 12.0))))));
  return sum + std::log(x) - 0.5 / x - series;
}

// A pole at each integer that is not positive. Below zero by reflection.
KEYWAY_HD inline double digamma(double x) {
  if (x == 0) return std::copysign(kInfinite, -x);
  if (x > 0) return digamma_of_positive(x);
  const double fraction = x - std::round(x);
  if (!(fraction != 0)) return kNotANumber;
  return digamma_of_positive(1 - x) - kPi / std::tan(kPi * fraction);
}

// The sum of (x + k)^-s over all k >= 0, for x > 0 and s > 1: the first terms, and the rest by Euler and Maclaurin.
KEYWAY_HD inline double zeta_of_positive(double s, double x) {
  // B(2k) / (2k)!
  constexpr double kCoefficients[] = {1 / 12.0,          -1 / 720.0,
                                      1 / 30240.0,       -1 / 1209600.0,
                                      1 / 47900160.0,    -691 / 1307674368000.0,
                                      1 / 74724249600.0, -3617 / 10670622842880000.0};
  double sum = 0;
  int terms = 0;
  for (; terms < 9 || x < 10; ++terms, x += 1) sum += std::pow(x, -s);
  const double term = std::pow(x, -s);
  if (!(term > 0)) return sum;
  sum += term * x / (s - 1) + term / 2;
  double factor = term * s / x;
  for (int k = 0; k < 8; ++k) {
    sum += kCoefficients[k] * factor;
    factor *= (s + 2 * k + 1) / x * ((s + 2 * k + 2) / x);
  }
  return sum;
}

// The same for an integer s and any x: below zero from the sum over all integers.
KEYWAY_HD inline double zeta(double s, double x) {
  if (x > 0) return zeta_of_positive(s, x);
  const double above = x - std::floor(x), below = std::ceil(x) - x;
  if (below == 0) return kInfinite;
  const double sign = std::fmod(s, 2.0) == 0 ? 1 : -1;
  return zeta_of_positive(s, above) + sign * (zeta_of_positive(s, below) - zeta_of_positive(s, 1 - x));
}

// Of any s: a pole at 1, and below zero powers of numbers below zero, which only integers s have.
KEYWAY_HD inline double hurwitz_zeta(double s, double x) {
  if (s == 1) return kInfinite;
  if (!(s > 1)) return kNotANumber;
  if (x <= 0 && x != std::floor(x) && s != std::floor(s)) return kNotANumber;
  return zeta(s, x);
}

}  // namespace detail

template <typename T>
struct Lgamma {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(std::lgamma(opmath(x))); }
};

KEYWAY_FUNCTOR_IN_DOUBLE(Digamma, digamma)

// Derivative number n of Digamma.
template <typename T>
struct Polygamma {
  std::int64_t n;

  KEYWAY_HD T operator()(T x) const {
    const auto wide = static_cast<double>(opmath(x));
    return static_cast<T>(static_cast<Opmath<T>>(n == 0 ? detail::digamma(wide) : of_zeta(wide)));
  }

 private:
  KEYWAY_HD double of_zeta(double x) const {
    const double order = static_cast<double>(n);
    const double size = std::exp(std::lgamma(order + 1)) * detail::zeta(order + 1, x);
    return n % 2 == 0 ? -size : size;
  }
};

template <typename T>
struct Zeta {
  KEYWAY_HD T operator()(T s, T x) const { return detail::in_double<detail::hurwitz_zeta>(s, x); }
};

}  // namespace keyway::inline v1
