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
  (tensor.is_complex() ? view_as_real(tensor) : tensor).uniform_(low, high);
  return tensor;
}

Tensor normal_(Tensor tensor, double mean, double std) {
  const NoGradGuard no_grad;
  return tensor.normal_(mean, std);
}

Tensor trunc_normal_(Tensor tensor, double mean, double std, double low, double high) {
  KEYWAY_CHECK(low < high && low <= mean + 4 * std && high >= mean - 4 * std,
               "trunc_normal_: normal values of mean {} and std {} do not fall into [{}, {}]", mean, std, low, high);
  const NoGradGuard no_grad;
  const auto outside_of = [&](const Tensor& values) { return values.lt(low).logical_or(values.gt(high)); };
  Tensor drawn = empty_like(tensor).normal_(mean, std);
  for (Tensor outside = outside_of(drawn); outside.any().item<bool>(); outside = outside_of(drawn)) {
    drawn = where(outside, empty_like(tensor).normal_(mean, std), drawn);
  }
  return tensor.copy_(drawn);
}

Tensor sparse_(Tensor tensor, double sparsity, double std) {
  KEYWAY_CHECK(tensor.dim() == 2, "sparse_ needs 2 dimensions, but the shape is {}", tensor.sizes());
  const auto zeros = static_cast<std::int64_t>(std::ceil(sparsity * static_cast<double>(tensor.size(0))));
  const NoGradGuard no_grad;
  tensor.normal_(0, std);
  for (std::int64_t column = 0; column < tensor.size(1); ++column) {
    const Tensor rows = randperm(tensor.size(0)).narrow(0, 0, zeros).to(tensor.device(), kLong);
    tensor.select(1, column).index_fill_(0, rows, 0);
  }
  return tensor;
}

Tensor eye_(Tensor tensor) {
  KEYWAY_CHECK(tensor.dim() == 2, "eye_ needs 2 dimensions, but the shape is {}", tensor.sizes());
  const NoGradGuard no_grad;
  return tensor.zero_().fill_diagonal_(1);
}

Tensor dirac_(Tensor tensor, std::int64_t groups) {
  KEYWAY_CHECK(tensor.dim() >= 3 && tensor.dim() <= 5, "dirac_ needs 3 to 5 dimensions, but the shape is {}",
               tensor.sizes());
  KEYWAY_CHECK(groups > 0 && tensor.size(0) % groups == 0, "dirac_: {} groups do not divide {} outputs", groups,
               tensor.size(0));
  const std::int64_t outputs = tensor.size(0) / groups;
  const NoGradGuard no_grad;
  tensor.zero_();
  Tensor middle = tensor;
  for (std::int64_t dim = tensor.dim() - 1; dim >= 2; --dim) middle = middle.select(dim, tensor.size(dim) / 2);
  for (std::int64_t group = 0; group < groups; ++group) {
    middle.narrow(0, group * outputs, outputs).fill_diagonal_(1);
  }
  return tensor;
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
    case Nonlinearity::SELU: return 0.75;
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
  if (tensor.numel() == 0) return tensor;
  return uniform_of(tensor, kaiming_std(tensor, a, mode, nonlinearity));
}
Tensor kaiming_normal_(Tensor tensor, double a, FanMode mode, Nonlinearity nonlinearity) {
  if (tensor.numel() == 0) return tensor;
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
  const Tensor drawn = empty({rows, columns}, tensor.options()).normal_();
  const auto [q, r] = linalg_qr(wide ? drawn.t() : drawn);
  const Tensor signed_q = q * r.diagonal().sign();
  return tensor.copy_((wide ? signed_q.t() : signed_q).reshape(tensor.sizes()).mul(gain));
}

}  // namespace keyway::inline v1::nn::init
