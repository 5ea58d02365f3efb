#include <keyway/nn/optim/adafactor.h>
#include <keyway/nn/optim/fused.h>
#include <keyway/nn/optim/prepared.h>
#include <keyway/ops/all.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace keyway::inline v1::optim {

namespace {

double rms(const Tensor& tensor) {
  if (tensor.numel() == 0) return 0;
  return linalg_vector_norm(tensor).item<double>() / std::sqrt(static_cast<double>(tensor.numel()));
}

double epsilon_of(ScalarType dtype) {
  switch (dtype) {
    case kDouble: return std::numeric_limits<double>::epsilon();
    case kHalf: return 0x1p-10;
    case kBFloat16: return 0x1p-7;
    default: return static_cast<double>(std::numeric_limits<float>::epsilon());
  }
}

void make_means(const Tensor& grad, AdafactorParamState& state) {
  if (grad.dim() < 2) {
    state.variance = zeros_like(grad);
    return;
  }
  std::vector<std::int64_t> rows = grad.sizes().vec(), columns = rows;
  rows.back() = 1;
  columns[columns.size() - 2] = 1;
  state.row_var = grad.new_zeros(rows);
  state.col_var = grad.new_zeros(columns);
}

// What is remembered of the gradient's squares, of its shape.
Tensor squares(const Tensor& grad, AdafactorParamState& state, double part, double eps) {
  const Tensor square = grad.square();
  if (grad.dim() < 2) return state.variance.lerp_(square, part).clone();
  state.row_var.lerp_(square.mean(IntArrayRef({-1}), true), part);
  state.col_var.lerp_(square.mean(IntArrayRef({-2}), true), part);
  const Tensor mean = state.row_var.mean(IntArrayRef({-2}), true).clamp_(Scalar(eps));
  return state.row_var.matmul(state.col_var).div_(mean);
}

}  // namespace

void AdafactorOptions::check() const {
  check_not_negative("Adafactor",
                     {{"lr", lr()}, {"eps1", eps1().value_or(0)}, {"eps2", eps2()}, {"weight_decay", weight_decay()}});
  KEYWAY_CHECK(beta2_decay() <= 0, "Adafactor: beta2_decay is {}, but must not be positive", beta2_decay());
  KEYWAY_CHECK(d() >= 1, "Adafactor: d is {}, but must be at least 1", d());
}

void AdafactorOptions::check_parameter(const Tensor& parameter) const {
  KEYWAY_CHECK(!parameter.is_complex(), "Adafactor: a parameter of shape {} is complex, but must be real",
               parameter.sizes());
}

bool AdafactorParamState::fits(std::string_view name, const Tensor& tensor, const Tensor& parameter) const {
  std::vector<std::int64_t> sizes = parameter.sizes().vec();
  if (name != "variance") {
    if (sizes.size() < 2) return false;
    sizes[sizes.size() - (name == "row_var" ? 1 : 2)] = 1;
  }
  return tensor.sizes() == IntArrayRef(sizes);
}

void Adafactor::update(const Tensor& parameter, const Tensor& grad, const AdafactorOptions& options,
                       AdafactorParamState& state) {
  if (!state.variance.defined() && !state.col_var.defined()) {
    check_may_make_state("Adafactor", parameter);
    make_means(grad, state);
  }
  const double eps = options.eps1().value_or(epsilon_of(parameter.dtype()));
  const auto step = static_cast<double>(state.step);
  const Tensor used = options.maximize() ? grad.neg() : grad;
  const double part = std::pow(step, options.beta2_decay());
  const double size = std::max(options.eps2(), rms(parameter)) * std::min(options.lr(), 1 / std::sqrt(step));
  if (options.weight_decay() != 0) parameter.mul_(1 - options.lr() * options.weight_decay());
  const Tensor change = squares(used, state, part, eps).clamp_(Scalar(eps * eps)).rsqrt_().mul_(used);
  parameter.add_(change, -size / std::max(1.0, rms(change) / options.d()));
}

}  // namespace keyway::inline v1::optim
