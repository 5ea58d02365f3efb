#include <keyway/nn/optim/fused.h>
#include <keyway/nn/optim/prepared.h>
#include <keyway/nn/optim/rprop.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::optim {

void RpropOptions::check() const {
  const auto [lower, higher] = etas();
  check_not_negative("Rprop", {{"lr", lr()}});
  KEYWAY_CHECK(0 < lower && lower < 1 && 1 < higher, "Rprop: the etas are {} and {}, but must be below and above 1",
               lower, higher);
}

void Rprop::update(const Tensor& parameter, const Tensor& grad, const RpropOptions& options, RpropParamState& state) {
  make_state_of("Rprop", parameter, state.prev);
  make_state_of("Rprop", parameter, state.step_size, options.lr());
  const Tensor used = gradient_to_use(parameter, grad, options);
  const Tensor product = used.mul(state.prev);
  const auto [lower, higher] = options.etas();
  const auto [least, most] = options.step_sizes();
  const Tensor factor = ones_like(used).masked_fill_(product.gt(0), higher).masked_fill_(product.lt(0), lower);
  const Tensor size = state.step_size.mul_(factor).clamp_(Scalar(least), Scalar(most));
  const Tensor kept = used.masked_fill(product.lt(0), 0);
  parameter.sub_(kept.sign().mul_(size));
  state.prev.copy_(kept);
}

}  // namespace keyway::inline v1::optim
