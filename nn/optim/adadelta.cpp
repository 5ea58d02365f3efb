#include <keyway/nn/optim/adadelta.h>
#include <keyway/nn/optim/fused.h>
#include <keyway/nn/optim/prepared.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::optim {

void AdadeltaOptions::check() const {
  check_not_negative("Adadelta", {{"lr", lr()}, {"eps", eps()}, {"weight_decay", weight_decay()}});
  KEYWAY_CHECK(rho() >= 0 && rho() <= 1, "Adadelta: rho is {}, but must be in [0, 1]", rho());
}

void Adadelta::update(const Tensor& parameter, const Tensor& grad, const AdadeltaOptions& options,
                      AdadeltaParamState& state) {
  make_states_of("Adadelta", parameter, {&state.square_avg, &state.acc_delta});
  const Tensor used = gradient_to_use(parameter, grad, options);
  const double rho = options.rho(), eps = options.eps();
  state.square_avg.mul_(rho).addcmul_(used, used, 1 - rho);
  const Tensor change = state.acc_delta.add(eps).sqrt_().div(state.square_avg.add(eps).sqrt_()).mul(used);
  state.acc_delta.mul_(rho).addcmul_(change, change, 1 - rho);
  parameter.add_(change, -options.lr());
}

}  // namespace keyway::inline v1::optim
