#include <keyway/ops/all.h>
#include <keyway/ops/unary_composites.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace keyway::inline v1::composite {

namespace {

// The greatest finite number of a floating dtype.
double greatest_of(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Half: return static_cast<float>(std::numeric_limits<Half>::max());
    case ScalarType::BFloat16: return static_cast<float>(std::numeric_limits<BFloat16>::max());
    case ScalarType::Float: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
  }
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

Tensor deg2rad(const Tensor& self) { return self * (std::numbers::pi / 180); }

Tensor frac(const Tensor& self) { return self - self.trunc(); }

// Of what is not finite the difference is NaN.
Tensor isfinite(const Tensor& self) { return self.dtype() == ScalarType::Bool ? self.eq(self) : (self - self).eq(0); }

Tensor isneginf(const Tensor& self) { return self.eq(-kInfinity); }

Tensor isposinf(const Tensor& self) { return self.eq(kInfinity); }

Tensor nan_to_num(const Tensor& self, std::optional<double> nan, std::optional<double> posinf,
                  std::optional<double> neginf) {
  if (!self.is_floating_point()) return self.clone();
  const double greatest = greatest_of(self.dtype());
  return self.masked_fill(self.isnan(), nan.value_or(0))
      .masked_fill(self.eq(kInfinity), posinf.value_or(greatest))
      .masked_fill(self.eq(-kInfinity), neginf.value_or(-greatest));
}

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

}  // namespace keyway::inline v1::composite
