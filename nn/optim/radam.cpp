#include <keyway/nn/optim/fused.h>
#include <keyway/nn/optim/prepared.h>
#include <keyway/nn/optim/radam.h>
#include <keyway/ops/all.h>

#include <cmath>

namespace keyway::inline v1::optim {

void RAdam::update(const Tensor& parameter, const Tensor& grad, const RAdamOptions& options, RAdamParamState& state) {
  make_states_of("RAdam", parameter, {&state.exp_avg, &state.exp_avg_sq});
  const Tensor used = gradient_to_use(parameter, grad, options);
  const auto [beta1, beta2] = options.betas();
  const auto step = static_cast<double>(state.step);
  state.exp_avg.mul_(beta1).add_(used, 1 - beta1);
  state.exp_avg_sq.mul_(beta2).addcmul_(used, used, 1 - beta2);
  const double kept = std::pow(beta2, step), correction = 1 - kept;
  const double limit = 2 / (1 - beta2) - 1, length = limit - 2 * step * kept / correction;
  const double lr = options.lr() / (1 - std::pow(beta1, step));
  if (length <= 5) {
    parameter.add_(state.exp_avg, -lr);
    return;
  }
  const double rate = (length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length);
  const Tensor denominator = state.exp_avg_sq.sqrt().add(options.eps());
  parameter.addcdiv_(state.exp_avg, denominator, -lr * std::sqrt(rate * correction));
}

}  // namespace keyway::inline v1::optim
