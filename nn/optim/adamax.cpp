#include <keyway/nn/optim/adamax.h>
#include <keyway/nn/optim/fused.h>
#include <keyway/nn/optim/prepared.h>
#include <keyway/ops/all.h>

#include <cmath>

namespace keyway::inline v1::optim {

void Adamax::update(const Tensor& parameter, const Tensor& grad, const AdamaxOptions& options,
                    AdamaxParamState& state) {
  make_states_of("Adamax", parameter, {&state.exp_avg, &state.exp_inf});
  const Tensor used = gradient_to_use(parameter, grad, options);
  const auto [beta1, beta2] = options.betas();
  state.exp_avg.mul_(beta1).add_(used, 1 - beta1);
  state.exp_inf = maximum(state.exp_inf.mul(beta2), used.abs().add_(options.eps()));
  const double correction = 1 - std::pow(beta1, static_cast<double>(state.step));
  parameter.addcdiv_(state.exp_avg, state.exp_inf, -options.lr() / correction);
}

}  // namespace keyway::inline v1::optim
