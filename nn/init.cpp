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

Tensor kaiming_uniform_(Tensor tensor, double a, FanMode mode, Nonlinearity nonlinearity) {
  const Fan fan = calculate_fan_in_and_fan_out(tensor);
  const auto count = static_cast<double>(mode == FanMode::FanIn ? fan.in : fan.out);
  const double bound = calculate_gain(nonlinearity, a) * std::sqrt(3 / count);
  return uniform_(std::move(tensor), -bound, bound);
}

Tensor xavier_uniform_(Tensor tensor, double gain) {
  const Fan fan = calculate_fan_in_and_fan_out(tensor);
  const double bound = gain * std::sqrt(6 / static_cast<double>(fan.in + fan.out));
  return uniform_(std::move(tensor), -bound, bound);
}

}  // namespace keyway::inline v1::nn::init
