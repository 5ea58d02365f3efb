// The gamma function and its kin, and the inverse of erf: computed in double precision.
#pragma once

#include <keyway/ops/functors/opmath.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace keyway::inline v1 {

namespace detail {

inline constexpr double kInfinite = std::numeric_limits<double>::infinity();
inline constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kPi = 3.141592653589793238463;

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

// The sum of (x + k)^-s over all k >= 0, for x > 0 and s >= 2: the first terms, and the rest by Euler and Maclaurin.
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

// The y >= 0 whose erf is `size`, and erfc `rest`, from 0 to 1: by Halley's steps from an approximation by elementary
// functions, in terms of the lesser of both.
KEYWAY_HD inline double erfinv_of_positive(double size, double rest) {
  const double log = size < 0.5 ? std::log1p(-size * size) : std::log(rest * (1 + size));
  const double half = 2 / (kPi * 0.147) + log / 2;
  double y = std::sqrt(std::sqrt(half * half - log / 0.147) - half);
  for (int i = 0; i < 3; ++i) {
    const double error = size < 0.5 ? std::erf(y) - size : rest - std::erfc(y);
    const double step = error / (2 / std::sqrt(kPi) * std::exp(-y * y));
    y -= step / (1 + y * step);
  }
  return y;
}

KEYWAY_HD inline double erfinv(double x) {
  const double size = std::fabs(x);
  if (!(size < 1)) return size == 1 ? std::copysign(kInfinite, x) : kNotANumber;
  return std::copysign(erfinv_of_positive(size, 1 - size), x);
}

// Where the standard normal distribution has the share p below.
KEYWAY_HD inline double ndtri(double p) {
  if (!(p > 0 && p < 1)) return p == 0 ? -kInfinite : p == 1 ? kInfinite : kNotANumber;
  const double share = p < 0.5 ? p : 1 - p;  // of the tail
  return std::copysign(std::sqrt(2.0) * erfinv_of_positive(1 - 2 * share, 2 * share), p - 0.5);
}

}  // namespace detail

template <typename T>
struct Lgamma {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(std::lgamma(opmath(x))); }
};

template <typename T>
struct Digamma {
  KEYWAY_HD T operator()(T x) const {
    return static_cast<T>(static_cast<Opmath<T>>(detail::digamma(static_cast<double>(opmath(x)))));
  }
};

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
struct Ndtri {
  KEYWAY_HD T operator()(T x) const {
    return static_cast<T>(static_cast<Opmath<T>>(detail::ndtri(static_cast<double>(opmath(x)))));
  }
};

template <typename T>
struct Erfinv {
  KEYWAY_HD T operator()(T x) const {
    return static_cast<T>(static_cast<Opmath<T>>(detail::erfinv(static_cast<double>(opmath(x)))));
  }
};

}  // namespace keyway::inline v1
