#include <keyway/nn/optim/fused.h>
#include <keyway/nn/optim/nadam.h>
#include <keyway/nn/optim/prepared.h>
#include <keyway/ops/all.h>

#include <cmath>

namespace keyway::inline v1::optim {

void NAdamOptions::check() const {
  check_adam("NAdam", lr(), betas(), eps(), weight_decay());
  check_not_negative("NAdam", {{"momentum_decay", momentum_decay()}});
}

void NAdam::update(const Tensor& parameter, const Tensor& grad, const NAdamOptions& options, NAdamParamState& state) {
  make_states_of("NAdam", parameter, {&state.exp_avg, &state.exp_avg_sq});
  const Tensor used = gradient_to_use(parameter, grad, options);
  const auto [beta1, beta2] = options.betas();
  const auto step = static_cast<double>(state.step);
  const auto momentum_at = [&](double t) {
    return std::get<0>(options.betas()) * (1 - 0.5 * std::pow(0.96, t * options.momentum_decay()));
  };
  const double momentum = momentum_at(step), following = momentum_at(step + 1), lr = options.lr();
  const double product = number_of_state(number_of_state(state.mu_product) * number_of_state(momentum));
  state.exp_avg.mul_(beta1).add_(used, 1 - beta1);
  state.exp_avg_sq.mul_(beta2).addcmul_(used, used, 1 - beta2);
  const double correction = std::sqrt(1 - std::pow(beta2, step));
  const Tensor denominator = state.exp_avg_sq.sqrt().div(correction).add_(options.eps());
  parameter.addcdiv_(used, denominator, -lr * (1 - momentum) / (1 - product));
  parameter.addcdiv_(state.exp_avg, denominator, -lr * following / (1 - product * following));
  state.mu_product = product;
}

}  // namespace keyway::inline v1::optim
