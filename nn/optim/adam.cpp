#include <keyway/nn/optim/adam.h>
#include <keyway/ops/all.h>

#include <cmath>

namespace keyway::inline v1::optim {

namespace {

template <typename Options>
void check_options(const char* name, const OptimizerOptions& defaults) {
  const auto& options = static_cast<const Options&>(defaults);
  const auto [beta1, beta2] = options.betas();
  KEYWAY_CHECK(options.lr() >= 0, "{}: the learning rate is {}, but must not be negative", name, options.lr());
  KEYWAY_CHECK(options.eps() >= 0, "{}: eps is {}, but must not be negative", name, options.eps());
  KEYWAY_CHECK(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1, "{}: the betas are {} and {}, but must be in [0, 1)",
               name, beta1, beta2);
  KEYWAY_CHECK(options.weight_decay() >= 0, "{}: the weight decay is {}, but must not be negative", name,
               options.weight_decay());
}

// The step that both share.
template <typename Options>
void adam_step(const Tensor& parameter, const Tensor& grad, const Options& options, AdamParamState& state) {
  const auto [beta1, beta2] = options.betas();
  if (!state.exp_avg.defined()) {
    state.exp_avg = zeros_like(parameter);
    state.exp_avg_sq = zeros_like(parameter);
  }
  state.exp_avg.mul_(beta1).add_(grad, 1 - beta1);
  state.exp_avg_sq.mul_(beta2).add_(mul(grad, grad), 1 - beta2);
  Tensor second = state.exp_avg_sq;
  if (options.amsgrad()) {
    Tensor& largest = state.max_exp_avg_sq;
    largest = largest.defined() ? maximum(largest, second) : second.clone();
    second = largest;
  }
  const auto t = static_cast<double>(state.step);
  const double correction1 = 1 - std::pow(beta1, t);
  const double correction2 = 1 - std::pow(beta2, t);
  const Tensor denominator = second.sqrt().div_(std::sqrt(correction2)).add_(options.eps());
  parameter.add_(div(state.exp_avg, denominator), -options.lr() / correction1);
}

}  // namespace

void AdamParamState::visit(const std::function<void(std::string_view, Tensor&)>& f) {
  f("exp_avg", exp_avg);
  f("exp_avg_sq", exp_avg_sq);
  f("max_exp_avg_sq", max_exp_avg_sq);
}

Adam::Adam(std::vector<OptimizerParamGroup> groups, AdamOptions defaults)
    : OptimizerOf(std::move(groups), std::move(defaults)) {
  check_options<AdamOptions>("Adam", this->defaults());
}

void Adam::update(const Tensor& parameter, const Tensor& grad, const AdamOptions& options, AdamParamState& state) {
  const bool decays = options.weight_decay() != 0;
  adam_step(parameter, decays ? grad.add(parameter, options.weight_decay()) : grad, options, state);
}

AdamW::AdamW(std::vector<OptimizerParamGroup> groups, AdamWOptions defaults)
    : OptimizerOf(std::move(groups), std::move(defaults)) {
  check_options<AdamWOptions>("AdamW", this->defaults());
}

void AdamW::update(const Tensor& parameter, const Tensor& grad, const AdamWOptions& options, AdamWParamState& state) {
  if (options.weight_decay() != 0) parameter.mul_(1 - options.lr() * options.weight_decay());
  adam_step(parameter, grad, options, state);
}

}  // namespace keyway::inline v1::optim
