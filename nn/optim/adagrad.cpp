#include <keyway/nn/optim/adagrad.h>
#include <keyway/nn/optim/fused.h>
#include <keyway/nn/optim/prepared.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::optim {

void AdagradOptions::check() const {
  check_not_negative("Adagrad", {{"lr", lr()},
                                 {"lr_decay", lr_decay()},
                                 {"weight_decay", weight_decay()},
                                 {"initial_accumulator_value", initial_accumulator_value()},
                                 {"eps", eps()}});
}

void Adagrad::update(const Tensor& parameter, const Tensor& grad, const AdagradOptions& options,
                     AdagradParamState& state) {
  make_state_of("Adagrad", parameter, state.sum, options.initial_accumulator_value());
  const Tensor used = gradient_to_use(parameter, grad, options);
  state.sum.addcmul_(used, used, 1);
  const double lr = options.lr() / (1 + static_cast<double>(state.step - 1) * options.lr_decay());
  parameter.addcdiv_(used, state.sum.sqrt().add(options.eps()), -lr);
}

}  // namespace keyway::inline v1::optim
