// The inverse of erf, erfc scaled up, and the normal distribution, whose share below x is erfc(-x / sqrt(2)) / 2.
#pragma once

#include <keyway/ops/functors/in_double.h>

#include <cmath>

namespace keyway::inline v1 {

namespace detail {

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

// exp(x^2) erfc(x): for x >= 0 as (1 + 2 x) times it, a smooth function of (x - 3.75) / (x + 3.75), whose Chebyshev
// coefficients were computed with 60 digits; the choice of variable is that of M. Shepherd and J. Laframboise,
// Mathematics of Computation 36 (1981).
KEYWAY_HD inline double erfcx(double x) {
  constexpr double kCoefficients[] = {
      1.1775789345674018,     -0.0045900545806464773,  -0.084249133366517916,   0.05920993999819189,
      -0.026658668435305752,  0.0090749976707052651,   -0.0024131635404176082,  0.00049077583652580863,
      -6.9169733025012064e-5, 4.1390279860730102e-6,   7.7403830661984909e-7,   -2.1886401049234394e-7,
      1.0764999465670928e-8,  4.5219598112183035e-9,   -7.7544002088311995e-10, -6.3180883408853197e-11,
      2.8687950109318775e-11, 1.9455868546822187e-13,  -9.6546967483457205e-13, 3.2525481488541954e-14,
      3.3478119488172646e-14, -1.8645628768891378e-15, -1.2507950513292276e-15, 7.418235250762618e-17,
      5.0681487191825491e-17};
  const double size = std::fabs(x);
  if (size > 1e9) return x > 0 ? 1 / (std::sqrt(kPi) * x) : kInfinite;
  const double above = chebyshev_sum(kCoefficients, (size - 3.75) / (size + 3.75)) / (1 + 2 * size);
  return x < 0 ? 2 * std::exp(x * x) - above : above;
}

// The logarithm of the normal distribution's share below x.
KEYWAY_HD inline double log_ndtr(double x) {
  const double y = x * std::sqrt(0.5);
  return x < -1 ? std::log(erfcx(-y) / 2) - y * y : std::log1p(-std::erfc(y) / 2);
}

}  // namespace detail

KEYWAY_FUNCTOR_IN_DOUBLE(Erfcx, erfcx)
KEYWAY_FUNCTOR_IN_DOUBLE(Erfinv, erfinv)
KEYWAY_FUNCTOR_IN_DOUBLE(LogNdtr, log_ndtr)
KEYWAY_FUNCTOR_IN_DOUBLE(Ndtri, ndtri)

}  // namespace keyway::inline v1
