#include <keyway/dispatch/call/call_declined.h>
#include <keyway/graph/decompositions/decompositions.h>

#include <limits>

namespace keyway::inline v1::graph::decompositions {
namespace {

bool is_any_complex(const Tensor& a, const Tensor& b) { return a.is_complex() || b.is_complex(); }

// To floats of the default dtype, if it has integers.
Tensor as_float(const Tensor& x) { return x.is_floating_point() || x.is_complex() ? x : x.to(get_default_dtype()); }

Tensor div_trunc(const Tensor& self, const Tensor& other) { return keyway::div(self, other, "trunc"); }

Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) {
  return in_opmath([&](const Tensor& x, const Tensor& a, const Tensor& b) { return x + a * value / b; }, self, tensor1,
                   tensor2);
}

Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) {
  return in_opmath([&](const Tensor& x, const Tensor& a, const Tensor& b) { return x + a * value * b; }, self, tensor1,
                   tensor2);
}

Tensor exp2(const Tensor& self) {
  return in_opmath([](const Tensor& x) { return keyway::pow(2, x); }, as_float(self));
}

Tensor floor_divide(const Tensor& self, const Tensor& other) { return keyway::div(self, other, "floor"); }

Tensor fmax(const Tensor& self, const Tensor& other) {
  return keyway::where((self >= other).logical_or(other.isnan()), self, other);
}

Tensor fmin(const Tensor& self, const Tensor& other) {
  return keyway::where((self <= other).logical_or(other.isnan()), self, other);
}

Tensor heaviside(const Tensor& self, const Tensor& values) {
  return keyway::where(self == 0, values, (self > 0).to(self.dtype()));
}

// The lesser magnitude by the greater stays below overflow; a sum of infinities and zeros is one of these.
Tensor hypot(const Tensor& self, const Tensor& other) {
  return in_opmath(
      [](const Tensor& x, const Tensor& y) {
        const Tensor a = x.abs(), b = y.abs();
        const Tensor most = keyway::maximum(a, b), least = keyway::minimum(a, b);
        const Tensor is_sum = (most == 0).logical_or(most.isinf());
        const Tensor ratio = least / most.masked_fill(is_sum, 1);
        const Tensor length = most * (ratio * ratio + 1).sqrt();
        const Tensor known = keyway::where(is_sum, most, length);
        const double infinity = std::numeric_limits<double>::infinity();
        return known.masked_fill((a == infinity).logical_or(b == infinity), infinity);
      },
      self, other);
}

// From the nearer end, so that a weight of 1 gives `end` exactly.
Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight) {
  return in_opmath(
      [](const Tensor& a, const Tensor& b, const Tensor& w) {
        const Tensor way = b - a;
        return keyway::where(w.abs() < 0.5, a + w * way, b - way * (1 - w));
      },
      self, end, weight);
}

Tensor lerp_number(const Tensor& self, const Tensor& end, const Scalar& weight) {
  const auto w = weight.to<complex<double>>();
  return in_opmath(
      [&](const Tensor& a, const Tensor& b) {
        const Tensor way = b - a;
        if (norm(w) < 0.25) return a + way * weight;
        return b - way * (weight.is_complex() ? Scalar(complex<double>(1) - w) : Scalar(1 - w.real()));
      },
      self, end);
}

// Of equal numbers, infinities among them, the distance is 0.
Tensor logaddexp(const Tensor& self, const Tensor& other) {
  if (is_any_complex(self, other)) throw CallDeclined("complex numbers have no order");
  return in_opmath(
      [](const Tensor& a, const Tensor& b) {
        const Tensor distance = (a - b).abs().masked_fill((a == b).logical_and(a.isinf()), 0);
        return keyway::maximum(a, b) + (-distance).exp().log1p();
      },
      self, other);
}

Tensor nan_to_num(const Tensor& self, double nan, double posinf, double neginf) {
  const double infinity = std::numeric_limits<double>::infinity();
  return self.masked_fill(self.isnan(), nan)
      .masked_fill(self == infinity, posinf)
      .masked_fill(self == -infinity, neginf);
}

Tensor sgn(const Tensor& self) {
  if (!self.is_complex()) return self.dtype() == kBool ? self.clone() : self.sign();
  const Tensor length = self.abs();
  return self / length.masked_fill(length == 0, 1);
}

Tensor sigmoid_backward(const Tensor& grad_output, const Tensor& output) {
  return in_opmath(
      [](const Tensor& grad, const Tensor& y) {
        return y.is_complex() ? grad * keyway::conj_physical((1 - y) * y) : grad * (1 - y) * y;
      },
      grad_output, output);
}

Tensor square(const Tensor& self) {
  const Tensor x = self.dtype() == kBool ? self.to(kLong) : self;
  return x * x;
}

Tensor tanh_backward(const Tensor& grad_output, const Tensor& output) {
  return in_opmath([](const Tensor& grad, const Tensor& y) { return grad * keyway::conj_physical(1 - y * y); },
                   grad_output, output);
}

// 0 beside a logarithm that is infinite, or of a negative number, is 0; of NaN it is NaN. To a product that is -0, 0 is
// added.
Tensor xlogy(const Tensor& self, const Tensor& other) {
  return in_opmath(
      [](const Tensor& x, const Tensor& y) {
        const Tensor is_infinite = (y <= 0).logical_or(y == std::numeric_limits<double>::infinity());
        const Tensor is_zero = x == 0, product = x * y.masked_fill(is_zero.logical_and(is_infinite), 1).log();
        return keyway::where(is_zero, product + 0, product);
      },
      as_float(self), as_float(other));
}

}  // namespace

void add_pointwise(Decompositions& table) {
  table.set("_div_trunc", &div_trunc);
  table.set("_nan_to_num", &nan_to_num);
  table.set("addcdiv", &addcdiv);
  table.set("addcmul", &addcmul);
  table.set("exp2", &exp2);
  table.set("floor_divide", &floor_divide);
  table.set("fmax", &fmax);
  table.set("fmin", &fmin);
  table.set("heaviside", &heaviside);
  table.set("hypot", &hypot);
  table.set("lerp.Scalar", &lerp_number);
  table.set("lerp.Tensor", &lerp);
  table.set("logaddexp", &logaddexp);
  table.set("sgn", &sgn);
  table.set("sigmoid_backward", &sigmoid_backward);
  table.set("square", &square);
  table.set("tanh_backward", &tanh_backward);
  table.set("xlogy.Tensor", &xlogy);
}

}  // namespace keyway::inline v1::graph::decompositions
