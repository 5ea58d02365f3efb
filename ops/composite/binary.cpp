// Functions of two tensors that are made of others. Overloads that take a number are those of tensors: it counts for
// the dtype as numbers do.
#include <keyway/ops/all.h>
#include <keyway/ops/binary_composites.h>
#include <keyway/ops/composite/numbers.h>
#include <keyway/ops/composite/opmath.h>
#include <keyway/ops/rules/promotion.h>

#include <numbers>

namespace keyway::inline v1::composite {

namespace {
// Writes a result over an argument of its dtype.
Tensor& stored_as_it_is(Tensor& self, const Tensor& result) {
  KEYWAY_CHECK_AS(Type, result.dtype() == self.dtype(),
                  "the result is {}, but argument 'self' is {}: it must have the result's dtype", result.dtype(),
                  self.dtype());
  return self.copy_(result);
}
}  // namespace

Tensor bitwise_and_number(const Tensor& self, const Scalar& other) {
  return self.bitwise_and(number_beside(other, self));
}
Tensor bitwise_and_of_number(const Scalar& self, const Tensor& other) {
  return number_beside(self, other).bitwise_and(other);
}

Tensor bitwise_or_number(const Tensor& self, const Scalar& other) {
  return self.bitwise_or(number_beside(other, self));
}
Tensor bitwise_or_of_number(const Scalar& self, const Tensor& other) {
  return number_beside(self, other).bitwise_or(other);
}

Tensor bitwise_xor_number(const Tensor& self, const Scalar& other) {
  return self.bitwise_xor(number_beside(other, self));
}
Tensor bitwise_xor_of_number(const Scalar& self, const Tensor& other) {
  return number_beside(self, other).bitwise_xor(other);
}

Tensor bitwise_left_shift_number(const Tensor& self, const Scalar& other) {
  return self.bitwise_left_shift(number_beside(other, self));
}
Tensor bitwise_left_shift_of_number(const Scalar& self, const Tensor& other) {
  return number_beside(self, other).bitwise_left_shift(other);
}

Tensor bitwise_right_shift_number(const Tensor& self, const Scalar& other) {
  return self.bitwise_right_shift(number_beside(other, self));
}
Tensor bitwise_right_shift_of_number(const Scalar& self, const Tensor& other) {
  return number_beside(self, other).bitwise_right_shift(other);
}

Tensor clamp_max(const Tensor& self, const Scalar& max) { return self.clamp(std::nullopt, max); }
Tensor clamp_max_tensor(const Tensor& self, const Tensor& max) { return self.clamp(std::nullopt, max); }

Tensor clamp_min(const Tensor& self, const Scalar& min) { return self.clamp(min); }
Tensor clamp_min_tensor(const Tensor& self, const Tensor& min) { return self.clamp(min); }

// All three promote at once: in pairs, two of them could narrow what the third keeps wide.
Tensor clamp_tensor(const Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max) {
  Promotion promotion;
  promotion << self;
  for (const std::optional<Tensor>& bound : {min, max})
    if (bound) promotion << *bound;
  const ScalarType dtype = promotion.result();
  Tensor result = self.to(dtype);
  if (min) result = keyway::maximum(result, min->to(dtype));
  if (max) result = keyway::minimum(result, max->to(dtype));
  return result;
}

Tensor copysign_number(const Tensor& self, const Scalar& other) { return self.copysign(float_beside(other, self)); }

Tensor div_mode(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode) {
  if (!rounding_mode) return self / other;
  return *rounding_mode == "floor" ? keyway::floor_divide(self, other) : keyway::_div_trunc(self, other);
}

Tensor div_scalar_mode(const Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode) {
  if (!rounding_mode) return self / other;
  return keyway::div(self, number_beside(other, self), rounding_mode);
}

Tensor float_power(const Tensor& self, const Tensor& exponent) {
  const ScalarType dtype = self.is_complex() || exponent.is_complex() ? kComplexDouble : kDouble;
  return self.to(dtype).pow(exponent.to(dtype));
}
Tensor float_power_number(const Tensor& self, const Scalar& exponent) {
  return self.to(self.is_complex() || exponent.is_complex() ? kComplexDouble : kDouble).pow(exponent);
}
Tensor float_power_of_number(const Scalar& self, const Tensor& exponent) {
  return keyway::pow(self, exponent.to(self.is_complex() || exponent.is_complex() ? kComplexDouble : kDouble));
}

// Of a copy, which the gradient needs as it was.
Tensor& float_power_(Tensor& self, const Tensor& exponent) {
  return stored_as_it_is(self, keyway::float_power(self.clone(), exponent));
}
Tensor& float_power_number_(Tensor& self, const Scalar& exponent) {
  return stored_as_it_is(self, keyway::float_power(self.clone(), exponent));
}

Tensor fmod_number(const Tensor& self, const Scalar& other) { return self.fmod(number_beside(other, self)); }

// Divided before it is multiplied, so that it overflows no sooner than the result.
Tensor lcm(const Tensor& self, const Tensor& other) {
  const Tensor divisor = self.gcd(other);
  return (self.div(divisor.masked_fill(divisor == 0, 1), "trunc") * other).abs();
}

// The power of 2 may be out of a 16-bit dtype's range where the product is not.
Tensor ldexp(const Tensor& self, const Tensor& other) {
  const ScalarType dtype = to_float((Promotion() << self << other).result());
  const ScalarType wide = opmath_dtype(dtype);
  return (self.to(wide) * keyway::pow(2.0, other.to(other.is_complex() ? wide : to_real(wide)))).to(dtype);
}

// The greater, and what the other adds to it; where both are equal, though infinite, 1.
Tensor logaddexp2(const Tensor& self, const Tensor& other) {
  const ScalarType dtype = (Promotion() << self << other).result();
  const Tensor a = self.to(dtype), b = other.to(dtype);
  const Tensor greater = keyway::maximum(a, b);
  const Tensor apart = (a - b).masked_fill(a == b, 0).abs();
  return greater + (-apart).exp2().log1p() / std::numbers::ln2;
}

Tensor remainder_number(const Tensor& self, const Scalar& other) { return self.remainder(number_beside(other, self)); }
Tensor remainder_of_number(const Scalar& self, const Tensor& other) {
  return number_beside(self, other).remainder(other);
}

Tensor xlogy_number(const Tensor& self, const Scalar& other) { return self.xlogy(float_beside(other, self)); }
Tensor xlogy_of_number(const Scalar& self, const Tensor& other) { return float_beside(self, other).xlogy(other); }

}  // namespace keyway::inline v1::composite
