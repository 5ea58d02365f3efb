#include <keyway/nn/optim/adam.h>
#include <keyway/nn/optim/fused.h>
#include <keyway/nn/optim/prepared.h>
#include <keyway/ops/all.h>

#include <cmath>

namespace keyway::inline v1::optim {

namespace {

// The step that both share.
template <typename Options>
void adam_step(const Tensor& parameter, const Tensor& grad, const Options& options, AdamParamState& state) {
  const auto [beta1, beta2] = options.betas();
  make_states_of(Options::kName, parameter, {&state.exp_avg, &state.exp_avg_sq});
  if (state.device_step.defined()) {
    state.step = state.steps() + 1;
    state.device_step = {};
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

// The same by one call of `step`, which calls `op`, _fused_adam_ or _fused_adamw_, for each set of parameters that it
// takes.
template <typename Options, typename Step>
void fused_adam_step(std::vector<ParamChange>& changes, const Options& options, const OperatorEntry& op,
                     const Step& step) {
  const auto state_of = [](const ParamChange& change) -> AdamParamState& {
    return static_cast<AdamParamState&>(*change.state);
  };
  const auto sets = take_fused(changes, options.fused(), {&op, &ops::_foreach_add__Scalar},
                               [](const auto&, const auto&) { return true; });
  for (const FusedSet& set : sets) {
    for (const ParamChange& change : set) {
      AdamParamState& state = state_of(change);
      make_states_of(Options::kName, change.parameter, {&state.exp_avg, &state.exp_avg_sq});
      if (options.amsgrad()) make_state_of(Options::kName, change.parameter, state.max_exp_avg_sq);
    }
    const auto means = list_of(set, [&](const ParamChange& c) { return state_of(c).exp_avg; });
    const auto squares = list_of(set, [&](const ParamChange& c) { return state_of(c).exp_avg_sq; });
    const auto greatest = options.amsgrad()
                              ? list_of(set, [&](const ParamChange& c) { return state_of(c).max_exp_avg_sq; })
                              : std::vector<Tensor>();
    count_steps(Options::kName, set, [&](const std::vector<Tensor>& steps) {
      const auto [beta1, beta2] = options.betas();
      step(parameters_of(set), grads_of(set), means, squares, greatest, steps, options.lr(), beta1, beta2,
           options.weight_decay(), options.eps(), options.amsgrad(), options.maximize());
    });
  }
}

}  // namespace

void check_adam(const char* optimizer, double lr, Betas betas, double eps, double weight_decay) {
  const auto [beta1, beta2] = betas;
  KEYWAY_CHECK(lr >= 0, "{}: the learning rate is {}, but must not be negative", optimizer, lr);
  KEYWAY_CHECK(eps >= 0, "{}: eps is {}, but must not be negative", optimizer, eps);
  KEYWAY_CHECK(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1, "{}: the betas are {} and {}, but must be in [0, 1)",
               optimizer, beta1, beta2);
  KEYWAY_CHECK(weight_decay >= 0, "{}: the weight decay is {}, but must not be negative", optimizer, weight_decay);
}

void Adam::update(const Tensor& parameter, const Tensor& grad, const AdamOptions& options, AdamParamState& state) {
  adam_step(parameter, gradient_to_use(parameter, grad, options), options, state);
}

void Adam::update_fused(std::vector<ParamChange>& changes, const AdamOptions& options) {
  fused_adam_step(changes, options, ops::_fused_adam_, [](const auto&... arguments) { _fused_adam_(arguments...); });
}

void AdamW::update(const Tensor& parameter, const Tensor& grad, const AdamWOptions& options, AdamWParamState& state) {
  if (options.weight_decay() != 0) parameter.mul_(1 - options.lr() * options.weight_decay());
  adam_step(parameter, options.maximize() ? grad.neg() : grad, options, state);
}

void AdamW::update_fused(std::vector<ParamChange>& changes, const AdamWOptions& options) {
  fused_adam_step(changes, options, ops::_fused_adamw_, [](const auto&... arguments) { _fused_adamw_(arguments...); });
}

}  // namespace keyway::inline v1::optim
