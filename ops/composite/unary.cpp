#include <keyway/ops/all.h>
#include <keyway/ops/composite/limits.h>
#include <keyway/ops/composite/numbers.h>
#include <keyway/ops/composite/opmath.h>
#include <keyway/ops/rules/promotion.h>
#include <keyway/ops/unary_composites.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace keyway::inline v1::composite {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

// At 0 a complex number has none; it is that of its signs, without slope.
Tensor angle(const Tensor& self) {
  if (self.is_complex()) {
    const Tensor x = keyway::real(self), y = keyway::imag(self), at_zero = self == 0;
    const Tensor signs = keyway::ones_like(x).copysign(x.detach());
    return keyway::atan2(keyway::where(at_zero, y.detach(), y), keyway::where(at_zero, signs, x));
  }
  const Tensor wide = self.to(to_float(self.dtype()));
  return keyway::where(wide.isnan(), wide, wide.lt(0).to(wide.dtype()) * std::numbers::pi);
}

Tensor deg2rad(const Tensor& self) { return self * (std::numbers::pi / 180); }

Tensor frac(const Tensor& self) { return self - self.trunc(); }

// Of what is not finite the difference is NaN.
Tensor isfinite(const Tensor& self) { return self.dtype() == ScalarType::Bool ? self.eq(self) : (self - self).eq(0); }

Tensor isneginf(const Tensor& self) { return self.eq(-kInfinity); }

Tensor isposinf(const Tensor& self) { return self.eq(kInfinity); }

Tensor isreal(const Tensor& self) {
  if (self.is_complex()) return keyway::imag(self).eq(0);
  return keyway::ones_like(self, TensorOptions().dtype(kBool));
}

// The lower bound is looked at first, should the bounds cross.
Tensor logit(const Tensor& self, std::optional<double> eps) {
  Tensor held = self.to(to_float(self.dtype()));
  if (eps) held = keyway::where(held < *eps, *eps, keyway::where(held > 1 - *eps, 1 - *eps, held));
  // Around 1/2 the quotient is near 1, whose logarithm is that of how far it is from it.
  const Tensor near_half = (held - 0.5).abs() < 0.25, odds = held / (1 - held);
  return keyway::where(near_half, ((held - 0.5) * 2 / (1 - held)).log1p(), odds.log());
}

// Outside of the bounds nothing changes; without bounds there is nothing to be changed.
Tensor logit_backward(const Tensor& grad_output, const Tensor& self, std::optional<double> eps) {
  const Tensor outside = (self < eps.value_or(0)).logical_or(self > 1 - eps.value_or(0));
  const Tensor slope = grad_output / (self * (1 - self));
  return slope.masked_fill(outside, eps ? 0 : std::numeric_limits<double>::quiet_NaN());
}

Tensor nan_to_num(const Tensor& self, std::optional<double> nan, std::optional<double> posinf,
                  std::optional<double> neginf) {
  if (self.is_complex()) {
    return keyway::view_as_complex(keyway::view_as_real(self).nan_to_num(nan, posinf, neginf));
  }
  if (!self.is_floating_point()) return self.clone();
  const double greatest = greatest_of(self.dtype());
  return keyway::_nan_to_num(self, nan.value_or(0), posinf.value_or(greatest), neginf.value_or(-greatest));
}

// Of a copy, which the gradient needs as it was.
Tensor& polygamma_(Tensor& self, std::int64_t n) { return self.copy_(keyway::polygamma(n, self.clone())); }

Tensor positive(const Tensor& self) { return self; }

Tensor rad2deg(const Tensor& self) { return self * (180 / std::numbers::pi); }

Tensor round_decimals(const Tensor& self, std::int64_t decimals) {
  if (decimals == 0) return self.round();
  const double power = std::pow(10.0, std::abs(static_cast<double>(decimals)));
  return decimals < 0 ? (self / power).round() * power : (self * power).round() / power;
}

Tensor signbit(const Tensor& self) {
  if (!self.is_floating_point()) return self.lt(0);
  return keyway::ones({}, self.options()).copysign(self).lt(0);
}

// Near 0 by the series of sin(z) / z, whose derivatives of every order are right there; those of the quotient are
// differences of large numbers.
Tensor sinc(const Tensor& self) {
  constexpr int kTerms = 12;
  const ScalarType dtype = to_float(self.dtype());
  const Tensor angle = self.to(opmath_dtype(dtype)) * std::numbers::pi, is_near = angle.abs() <= 1;
  const Tensor near = angle.masked_fill(is_near.logical_not(), 0), square = near * near;
  Tensor series = keyway::ones_like(near);
  for (int k = kTerms; k > 0; --k) series = 1 - square * series / (2 * k * (2 * k + 1));
  const Tensor divisor = angle.masked_fill(is_near, 1);
  return keyway::where(is_near, series, divisor.sin() / divisor).to(dtype);
}

}  // namespace keyway::inline v1::composite
