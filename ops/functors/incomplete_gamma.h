// The regularized incomplete gamma functions: P(a, x), the share of the gamma distribution of shape a below x, and
// Q = 1 - P. By the power series below the mean and Legendre's continued fraction above it (DLMF 8.7.1, 8.9.2), and for
// large a near the mean by Temme's uniform expansion (DLMF 8.12).
#pragma once

#include <keyway/ops/functors/in_double.h>

#include <cmath>

namespace keyway::inline v1 {

namespace detail {

struct GammaShares {
  double below, above;  // P and Q
};

inline constexpr int kMostGammaTerms = 100'000;  // some 9,000 are needed at most

// a (log(1 + m) - m) for x = a (1 + m): the exponent of x^a exp(a - x) / a^a.
KEYWAY_HD inline double gamma_exponent(double a, double x) {
  const double m = (x - a) / a;
  return a * (std::log1p(m) - m);
}

// x^a exp(-x) / Gamma(a + 1), of large a by Stirling's series.
KEYWAY_HD inline double gamma_density(double a, double x) {
  if (a < 10) return std::exp(a * std::log(x) - x - std::lgamma(a + 1));
  const double y = 1 / (a * a);
  const double rest = (1 / 12.0 - y * (1 / 360.0 - y * (1 / 1260.0 - y * (1 / 1680.0 - y / 1188.0)))) / a;
  return std::exp(gamma_exponent(a, x) - rest) / std::sqrt(2 * kPi * a);
}

// The sum of x^n / ((a + 1) ... (a + n)) over all n >= 0, for x < a + 1.
KEYWAY_HD inline double gamma_series(double a, double x) {
  double term = 1, sum = 1;
  for (int n = 1; n < kMostGammaTerms && term > sum * 1e-17; ++n) {
    term *= x / (a + n);
    sum += term;
  }
  return sum;
}

// Gamma(a, x) / (x^a exp(-x)) for x >= a + 1, by Lentz's method.
KEYWAY_HD inline double gamma_fraction(double a, double x) {
  double b = x + 1 - a, c = kInfinite, d = 1 / b, product = d;
  for (int n = 1; n < kMostGammaTerms; ++n) {
    const double numerator = n * (a - n);
    b += 2;
    d = 1 / (b + numerator * d);
    c = b + numerator / c;
    product *= c * d;
    if (std::fabs(c * d - 1) < 1e-16) break;
  }
  return product;
}

// For a > 10^6 and x within a tenth of it.
KEYWAY_HD inline GammaShares gamma_shares_near_mean(double a, double x) {
  const double exponent = gamma_exponent(a, x);
  const double eta = std::copysign(std::sqrt(-2 * exponent / a), x - a);
  const double first = -1 / 3.0 + eta * (1 / 12.0 + eta * (-2 / 135.0 + eta / 864.0));
  const double second = -1 / 540.0 - eta / 288.0;
  const double rest = std::exp(exponent) / std::sqrt(2 * kPi * a) * (first + second / a);
  const double y = eta * std::sqrt(a / 2);
  return {std::erfc(-y) / 2 - rest, std::erfc(y) / 2 + rest};
}

KEYWAY_HD inline GammaShares gamma_shares(double a, double x) {
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (a == kInfinite && x == kInfinite))
    return {kNotANumber, kNotANumber};
  if (x == 0 || a == kInfinite) return {0, 1};
  if (a == 0 || x == kInfinite) return {1, 0};
  if (a > 1e6 && std::fabs(x - a) < a / 10) return gamma_shares_near_mean(a, x);
  if (x < a + 1) {
    const double below = gamma_density(a, x) * gamma_series(a, x);
    return {below, 1 - below};
  }
  const double above = gamma_density(a, x) * a * gamma_fraction(a, x);
  return {1 - above, above};
}

KEYWAY_HD inline double igamma(double a, double x) { return gamma_shares(a, x).below; }
KEYWAY_HD inline double igammac(double a, double x) { return gamma_shares(a, x).above; }

}  // namespace detail

template <typename T>
struct Igamma {
  KEYWAY_HD T operator()(T a, T x) const { return detail::in_double<detail::igamma>(a, x); }
};

template <typename T>
struct Igammac {
  KEYWAY_HD T operator()(T a, T x) const { return detail::in_double<detail::igammac>(a, x); }
};

}  // namespace keyway::inline v1
