#include <keyway/nn/optim/fused.h>
#include <keyway/nn/optim/prepared.h>
#include <keyway/nn/optim/rmsprop.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::optim {

void RMSpropOptions::check() const {
  check_not_negative(
      "RMSprop",
      {{"lr", lr()}, {"eps", eps()}, {"momentum", momentum()}, {"weight_decay", weight_decay()}, {"alpha", alpha()}});
}

void RMSprop::update(const Tensor& parameter, const Tensor& grad, const RMSpropOptions& options,
                     RMSpropParamState& state) {
  make_state_of("RMSprop", parameter, state.square_avg);
  if (options.momentum() > 0) make_state_of("RMSprop", parameter, state.momentum_buffer);
  if (options.centered()) make_state_of("RMSprop", parameter, state.grad_avg);
  const Tensor used = gradient_to_use(parameter, grad, options);
  const double alpha = options.alpha();
  Tensor square = state.square_avg.mul_(alpha).addcmul_(used, used, 1 - alpha);
  if (options.centered()) {
    state.grad_avg.mul_(alpha).add_(used, 1 - alpha);
    square = square.sub(state.grad_avg.mul(state.grad_avg));
  }
  Tensor change = used.div(square.sqrt().add(options.eps()));
  if (options.momentum() > 0) change = state.momentum_buffer.mul_(options.momentum()).add_(change);
  parameter.add_(change, -options.lr());
}

}  // namespace keyway::inline v1::optim
