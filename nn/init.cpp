#include <keyway/nn/init.h>
#include <keyway/ops/all.h>

#include <cmath>

namespace keyway::inline v1::nn::init {

Tensor zeros_(Tensor tensor) { return constant_(std::move(tensor), 0); }
Tensor ones_(Tensor tensor) { return constant_(std::move(tensor), 1); }

Tensor constant_(Tensor tensor, const Scalar& value) {
  const NoGradGuard no_grad;
  return fill_(tensor, value);
}

Tensor uniform_(Tensor tensor, double low, double high) {
  const NoGradGuard no_grad;
  return tensor.uniform_(low, high);
}

Tensor normal_(Tensor tensor, double mean, double std) {
  const NoGradGuard no_grad;
  return tensor.normal_(mean, std);
}

Fan calculate_fan_in_and_fan_out(const Tensor& tensor) {
  KEYWAY_CHECK(tensor.dim() >= 2, "fan in and fan out need at least 2 dimensions, but the shape is {}", tensor.sizes());
  std::int64_t receptive_field = 1;
  for (const std::int64_t size : tensor.sizes().slice(2)) receptive_field *= size;
  return {tensor.size(1) * receptive_field, tensor.size(0) * receptive_field};
}

double calculate_gain(Nonlinearity nonlinearity, double slope) {
  switch (nonlinearity) {
    case Nonlinearity::Linear:
    case Nonlinearity::Sigmoid: return 1;
    case Nonlinearity::Tanh: return 5.0 / 3;
    case Nonlinearity::ReLU: return std::sqrt(2.0);
    case Nonlinearity::LeakyReLU: return std::sqrt(2 / (1 + slope * slope));
  }
  return 1;
}

namespace {

double kaiming_std(const Tensor& tensor, double a, FanMode mode, Nonlinearity nonlinearity) {
  const Fan fan = calculate_fan_in_and_fan_out(tensor);
  return calculate_gain(nonlinearity, a) / std::sqrt(static_cast<double>(mode == FanMode::FanIn ? fan.in : fan.out));
}

double xavier_std(const Tensor& tensor, double gain) {
  const Fan fan = calculate_fan_in_and_fan_out(tensor);
  return gain * std::sqrt(2 / static_cast<double>(fan.in + fan.out));
}

// Uniform, with this standard deviation.
Tensor uniform_of(Tensor tensor, double std) {
  const double bound = std::sqrt(3.0) * std;
  return uniform_(std::move(tensor), -bound, bound);
}

}  // namespace

Tensor kaiming_uniform_(Tensor tensor, double a, FanMode mode, Nonlinearity nonlinearity) {
  return uniform_of(tensor, kaiming_std(tensor, a, mode, nonlinearity));
}
Tensor kaiming_normal_(Tensor tensor, double a, FanMode mode, Nonlinearity nonlinearity) {
  return normal_(tensor, 0, kaiming_std(tensor, a, mode, nonlinearity));
}

Tensor xavier_uniform_(Tensor tensor, double gain) { return uniform_of(tensor, xavier_std(tensor, gain)); }
Tensor xavier_normal_(Tensor tensor, double gain) { return normal_(tensor, 0, xavier_std(tensor, gain)); }

// Q of a matrix of normal numbers, with the signs that make R's diagonal positive: so Q is uniform.
Tensor orthogonal_(Tensor tensor, double gain) {
  KEYWAY_CHECK(tensor.dim() >= 2, "orthogonal_ needs at least 2 dimensions, but the shape is {}", tensor.sizes());
  if (tensor.numel() == 0) return tensor;
  const NoGradGuard no_grad;
  const std::int64_t rows = tensor.size(0), columns = tensor.numel() / rows;
  const bool wide = rows < columns;
  const Tensor drawn = randn({wide ? columns : rows, wide ? rows : columns}, tensor.options());
  const auto [q, r] = linalg_qr(drawn);
  const Tensor signed_q = q * r.diagonal().sign();
  return tensor.copy_((wide ? signed_q.t() : signed_q).reshape(tensor.sizes()).mul(gain));
}

}  // namespace keyway::inline v1::nn::init
