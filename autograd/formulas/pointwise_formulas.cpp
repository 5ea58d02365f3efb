#include <keyway/autograd/formulas/formula_words.h>
#include <keyway/autograd/helpers_activation.h>
#include <keyway/autograd/helpers_binary.h>
#include <keyway/autograd/helpers_loss.h>
#include <keyway/autograd/helpers_unary.h>
#include <keyway/core/base/error.h>
#include <keyway/core/keys/thread_state.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::autograd {

Scalar conj(const Scalar& value) { return value.conj(); }

Tensor conj(const Tensor& self) { return self.is_complex() ? self.conj_physical() : self; }

// A bound that is met has the value, as in PyTorch.
Tensor clamp_backward(const Tensor& grad, const Tensor& self, std::optional<Scalar> min, std::optional<Scalar> max) {
  Tensor result = grad;
  if (min) result = result * (self > *min).to(grad.dtype());
  if (max) result = result * (self < *max).to(grad.dtype());
  return result;
}

// As in PyTorch: a bound that is met has half of the gradient, but none where both bounds are the same, and all of it
// is `max`'s where they cross.
std::tuple<Tensor, Tensor, Tensor> clamp_backward(const Tensor& grad, const Tensor& self, const Tensor& min,
                                                  const Tensor& max, ArrayRef<bool> needs) {
  const Tensor never = keyway::zeros({}, TensorOptions(self.device()).dtype(kBool));
  const bool both = min.defined() && max.defined();
  const Tensor crossed = both ? max < min : never, ordered = both ? min < max : never.logical_not();
  const Tensor at_min = min.defined() ? (self == min).logical_and(ordered) : never;
  const Tensor at_max = max.defined() ? (self == max).logical_and(ordered) : never;
  const Tensor below = min.defined() ? (self < min).logical_and(crossed.logical_not()) : never;
  const Tensor above = max.defined() ? (self > max).logical_or(crossed) : never;
  const auto part = [&](const Tensor& half, const Tensor& all) {
    return keyway::where(half, grad / 2, keyway::where(all, grad, 0));
  };
  Tensor for_self, for_min, for_max;
  if (needs[0]) for_self = part(at_min.logical_or(at_max), below.logical_or(above).logical_not());
  if (needs[1]) for_min = part(at_min, below);
  if (needs[2]) for_max = part(at_max, above);
  return {for_self, for_min, for_max};
}

Tensor binary_cross_entropy_target_backward(const Tensor& grad, const Tensor& self, const Tensor& weight,
                                            std::int64_t reduction) {
  constexpr double kLeast = -100;
  const Tensor slope = (-self).log1p().clamp_min(kLeast) - self.log().clamp_min(kLeast);
  const Tensor product = grad * (weight.defined() ? slope * weight : slope);
  return reduction == 1 ? product / static_cast<double>(self.numel()) : product;
}

Tensor pow_backward_exponent(const Tensor& grad, const Tensor& self, const Tensor& exponent, const Tensor& result) {
  const Tensor gradient = grad * conj(result * self.to(result.dtype()).log());
  const Tensor size = exponent.is_complex() ? keyway::real(exponent) : exponent;
  return keyway::where((self == 0).logical_and(size >= 0), 0, gradient);
}

Tensor pow_backward_exponent(const Tensor& grad, const Scalar& self, const Tensor& exponent, const Tensor& result) {
  return pow_backward_exponent(grad, keyway::scalar_tensor(self, result.options()), exponent, result);
}

Tensor sgn_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  if (!self.is_complex()) return keyway::zeros_like(grad);
  const Tensor is_zero = self == 0;
  const Tensor across = grad - result * keyway::real(grad * conj(result));
  return (across / self.abs().masked_fill(is_zero, 1)).masked_fill(is_zero, 0);
}

Tensor gelu_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self,
                            std::string_view approximate) {
  const Tensor x2 = self * self;
  if (approximate == "none") {
    // gelu' = cdf + x pdf, and pdf' = -x pdf.
    const Tensor pdf = (x2 * -0.5).exp() * 0.3989422804014327;
    return grad * grad_output * pdf * (2 - x2);
  }
  // gelu = x (1 + t) / 2 with t = tanh(u), u = k (x + c x^3).
  constexpr double k = 0.7978845608028654;
  constexpr double c = 0.044715;
  const Tensor t = ((self + self * x2 * c) * k).tanh();
  const Tensor du = (1 + x2 * (3 * c)) * k;
  const Tensor dt = (1 - t * t);
  const Tensor second = dt * du + self * dt * (self * (3 * k * c) - t * du * du);
  return grad * grad_output * second;
}

Tensor elu_double_backward(const Tensor& grad, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale,
                           bool is_result, const Tensor& self_or_result) {
  // From the result elu_backward is linear, from the input an exponential.
  const Tensor below = is_result ? grad : keyway::elu_backward(grad, alpha, scale, input_scale, false, self_or_result);
  return (below * input_scale).masked_fill(self_or_result >= 0, 0);
}

Tensor mish_double_backward(const Tensor& grad, const Tensor& self) {
  // mish = x t with t = tanh(softplus(x)), and t' = (1 - t^2) s with s = sigmoid(x).
  const Tensor s = self.sigmoid();
  const Tensor t = keyway::softplus(self).tanh();
  const Tensor dt = (1 - t * t) * s;
  return grad * dt * (2 + self * (1 - s - 2 * t * s));
}

Tensor silu_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self) {
  const Tensor s = self.sigmoid();
  return conj(grad) * grad_output * conj(s * (1 - s) * (2 + self * (1 - 2 * s)));
}

// The density at x over the share below it: sqrt(2 / pi) / erfcx(-x / sqrt(2)). For large x erfcx leaves the range, and
// its derivative more so; there it is exp(-x^2 / 2 - log_ndtr(x)) / sqrt(2 pi).
Tensor special_log_ndtr_backward(const Tensor& grad, const Tensor& self) {
  const Tensor x = self.to(opmath_type(self.dtype())), is_above = x > 0;
  const Tensor above = x.masked_fill(is_above.logical_not(), 0), below = x.masked_fill(is_above, 0);
  const Tensor of_above = (above * above * -0.5 - keyway::special_log_ndtr(above)).exp() * 0.3989422804014327;
  const Tensor of_below = 0.7978845608028654 / keyway::special_erfcx(below * -0.7071067811865476);
  return (grad.to(x.dtype()) * keyway::where(is_above, of_above, of_below)).to(self.dtype());
}

namespace {

// I1(x) / x for numbers up to 2, by its power series (Abramowitz and Stegun, 9.6.10): the sum of
// (x^2 / 4)^k / (2 k! (k + 1)!).
Tensor i1_by_x_near_0(const Tensor& x) {
  constexpr int kTerms = 16;
  const Tensor quarter = x * x / 4;
  Tensor sum = keyway::ones_like(x);
  for (int k = kTerms; k > 0; --k) sum = 1 + quarter * sum / (k * (k + 1));
  return sum / 2;
}

// result / x, where result is I1(x), times exp(-|x|) if `scaled`. Where the quotient is to be differentiated it is
// taken from the series near 0: differences of numbers that x divides lose there what they are made of.
Tensor i1_by_x(const Tensor& x, const Tensor& result, bool scaled) {
  if (!grad_enabled()) {
    const Tensor at_zero = x == 0;
    return keyway::where(at_zero, 0.5, result / x.masked_fill(at_zero, 1));
  }
  const Tensor near = x.abs() <= 2, x_near = x.masked_fill(near.logical_not(), 0);
  const Tensor quotient = i1_by_x_near_0(x_near);
  return keyway::where(near, scaled ? quotient * (-x_near.abs()).exp() : quotient, result / x.masked_fill(near, 1));
}

}  // namespace

// I1' = I0 - I1 / x.
Tensor special_i1_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  return grad * (keyway::i0(self) - i1_by_x(self, result, /*scaled=*/false));
}

Tensor special_i1e_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  return grad * (keyway::special_i0e(self) - keyway::sign(self) * result - i1_by_x(self, result, /*scaled=*/true));
}

}  // namespace keyway::inline v1::autograd
