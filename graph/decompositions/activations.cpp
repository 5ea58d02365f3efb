#include <keyway/graph/decompositions/decompositions.h>

#include <numbers>
#include <string_view>

namespace keyway::inline v1::graph::decompositions {
namespace {

// log(1 + exp(x)), without overflow on the way.
Tensor log_one_plus_exp(const Tensor& x) {
  return keyway::maximum(x, keyway::zeros_like(x)) + (-x.abs()).exp().log1p();
}

Tensor elu_backward(const Tensor& grad_output, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale,
                    bool is_result, const Tensor& self_or_result) {
  const double slope = alpha.to<double>() * scale.to<double>();
  return in_opmath(
      [&](const Tensor& grad, const Tensor& x, const auto&...) {
        const Tensor below = is_result ? x + slope : (x.clamp_max(0) * input_scale).exp() * slope;
        return keyway::where(x > 0, grad * scale, grad * input_scale * below);
      },
      grad_output, self_or_result, alpha, scale, input_scale);
}

// Of x times the normal distribution function of x; by 'tanh' as x sigmoid(2 u). Where the sigmoid bends no more, its
// slope may be infinite.
Tensor gelu_backward(const Tensor& grad_output, const Tensor& self, std::string_view approximate) {
  return in_opmath(
      [&](const Tensor& grad, const Tensor& x) {
        if (approximate == "none") {
          const Tensor share = ((x * (1 / std::numbers::sqrt2)).erf() + 1) * 0.5;
          const double factor = 0.5 * std::numbers::inv_sqrtpi * std::numbers::sqrt2;
          return grad * (share + x * (x * x * -0.5).exp() * factor);
        }
        constexpr double kCubic = 0.044715, kSlope = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
        const Tensor square = x * x, s = ((square * kCubic + 1) * x * (2 * kSlope)).sigmoid();
        const Tensor slope = (square * (3 * kCubic) + 1) * (2 * kSlope), bend = x * s * (1 - s);
        return grad * keyway::where(bend == 0, s, s + bend * slope);
      },
      grad_output, self);
}

Tensor hardsigmoid(const Tensor& self) {
  return in_opmath([](const Tensor& x) { return (x + 3).clamp(0, 6) / 6; }, self);
}

Tensor hardsigmoid_backward(const Tensor& grad_output, const Tensor& self) {
  return in_opmath(
      [](const Tensor& grad, const Tensor& x) { return keyway::where((x > -3).logical_and(x < 3), grad / 6, 0); },
      grad_output, self);
}

Tensor hardswish(const Tensor& self) {
  return in_opmath([](const Tensor& x) { return x * (x + 3).clamp(0, 6) / 6; }, self);
}

Tensor hardswish_backward(const Tensor& grad_output, const Tensor& self) {
  return in_opmath(
      [](const Tensor& grad, const Tensor& x) {
        return keyway::where(x < 3, grad * (x / 3 + 0.5), grad).masked_fill(x <= -3, 0);
      },
      grad_output, self);
}

Tensor hardtanh_backward(const Tensor& grad_output, const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
  return in_opmath(
      [](const Tensor& grad, const Tensor& x, const Scalar& least, const Scalar& greatest) {
        return keyway::where((x <= least).logical_or(x >= greatest), 0, grad);
      },
      grad_output, self, min_val, max_val);
}

// The sign of a result is that of the input.
Tensor leaky_relu_backward(const Tensor& grad_output, const Tensor& self, const Scalar& negative_slope, bool) {
  return in_opmath(
      [](const Tensor& grad, const Tensor& x, const Scalar& slope) { return keyway::where(x > 0, grad, grad * slope); },
      grad_output, self, negative_slope);
}

Tensor log_sigmoid(const Tensor& self) {
  return in_opmath([](const Tensor& x) { return keyway::minimum(x, keyway::zeros_like(x)) - (-x.abs()).exp().log1p(); },
                   self);
}

Tensor mish(const Tensor& self) {
  return in_opmath([](const Tensor& x) { return x * log_one_plus_exp(x).tanh(); }, self);
}

Tensor mish_backward(const Tensor& grad_output, const Tensor& self) {
  return in_opmath(
      [](const Tensor& grad, const Tensor& x) {
        const Tensor t = log_one_plus_exp(x).tanh();
        return grad * (t + x * x.sigmoid() * (1 - t * t));
      },
      grad_output, self);
}

Tensor silu(const Tensor& self) {
  return in_opmath([](const Tensor& x) { return x * x.sigmoid(); }, self);
}

Tensor silu_backward(const Tensor& grad_output, const Tensor& self) {
  return in_opmath(
      [](const Tensor& grad, const Tensor& x) {
        const Tensor s = x.sigmoid();
        return grad * keyway::conj_physical(s * (1 + x * (1 - s)));
      },
      grad_output, self);
}

Tensor softplus(const Tensor& self, const Scalar& beta, const Scalar& threshold) {
  return in_opmath(
      [&](const Tensor& x) {
        const Tensor scaled = x * beta;
        return keyway::where(scaled > threshold, x, log_one_plus_exp(scaled) / beta);
      },
      self);
}

Tensor softplus_backward(const Tensor& grad_output, const Tensor& self, const Scalar& beta, const Scalar& threshold) {
  return in_opmath(
      [](const Tensor& grad, const Tensor& x, const Scalar& factor, const Scalar& limit) {
        const Tensor scaled = x * factor;
        return keyway::where(scaled > limit, grad, grad * scaled.sigmoid());
      },
      grad_output, self, beta, threshold);
}

Tensor threshold_backward(const Tensor& grad_output, const Tensor& self, const Scalar& threshold) {
  return in_opmath(
      [](const Tensor& grad, const Tensor& x, const Scalar& limit) { return keyway::where(x <= limit, 0, grad); },
      grad_output, self, threshold);
}

}  // namespace

void add_activations(Decompositions& table) {
  table.set("elu_backward", &elu_backward);
  table.set("gelu_backward", &gelu_backward);
  table.set("hardsigmoid", &hardsigmoid);
  table.set("hardsigmoid_backward", &hardsigmoid_backward);
  table.set("hardswish", &hardswish);
  table.set("hardswish_backward", &hardswish_backward);
  table.set("hardtanh_backward", &hardtanh_backward);
  table.set("leaky_relu_backward", &leaky_relu_backward);
  table.set("log_sigmoid", &log_sigmoid);
  table.set("mish", &mish);
  table.set("mish_backward", &mish_backward);
  table.set("silu", &silu);
  table.set("silu_backward", &silu_backward);
  table.set("softplus", &softplus);
  table.set("softplus_backward", &softplus_backward);
  table.set("threshold_backward", &threshold_backward);
}

}  // namespace keyway::inline v1::graph::decompositions
