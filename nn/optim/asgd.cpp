#include <keyway/nn/optim/asgd.h>
#include <keyway/nn/optim/fused.h>
#include <keyway/nn/optim/prepared.h>
#include <keyway/ops/all.h>

#include <algorithm>
#include <cmath>

namespace keyway::inline v1::optim {

void ASGDOptions::check() const { check_not_negative("ASGD", {{"lr", lr()}, {"weight_decay", weight_decay()}}); }

void ASGDParamState::visit_numbers(const std::function<void(std::string_view, double&)>& f) {
  f("eta", eta);
  f("mu", mu);
}

void ASGD::update(const Tensor& parameter, const Tensor& grad, const ASGDOptions& options, ASGDParamState& state) {
  if (!state.ax.defined()) {
    state.eta = number_of_state(options.lr());
    make_state_of("ASGD", parameter, state.ax);
  }
  const Tensor used = gradient_to_use(parameter, grad, options);
  parameter.mul_(1 - options.lambd() * state.eta).add_(used, -state.eta);
  if (state.mu == 1) {
    state.ax.copy_(parameter);
  } else {
    state.ax.add_(parameter.sub(state.ax), state.mu);
  }
  const auto step = static_cast<double>(state.step);
  const double lr = options.lr();
  state.eta = number_of_state(lr / std::pow(1 + options.lambd() * lr * step, options.alpha()));
  state.mu = number_of_state(1 / std::max(1.0, step - options.t0()));
}

}  // namespace keyway::inline v1::optim
