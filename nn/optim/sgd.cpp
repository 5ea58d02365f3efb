#include <keyway/nn/optim/fused.h>
#include <keyway/nn/optim/prepared.h>
#include <keyway/nn/optim/sgd.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::optim {

void SGDOptions::check() const {
  KEYWAY_CHECK(lr() >= 0, "SGD: the learning rate is {}, but must not be negative", lr());
  KEYWAY_CHECK(momentum() >= 0, "SGD: the momentum is {}, but must not be negative", momentum());
  KEYWAY_CHECK(weight_decay() >= 0, "SGD: the weight decay is {}, but must not be negative", weight_decay());
  KEYWAY_CHECK(!nesterov() || (momentum() > 0 && dampening() == 0),
               "SGD: Nesterov's form needs momentum and no dampening");
}

namespace {

// Whether a step is one addition for each parameter, which on the CPU gains nothing from being done for all at once.
bool is_addition(const ParamChange& change, const SGDOptions& options) {
  return options.momentum() == 0 && options.weight_decay() == 0 && change.parameter.is_cpu();
}

}  // namespace

void SGD::update(const Tensor& parameter, const Tensor& grad, const SGDOptions& options, SGDParamState& state) {
  Tensor direction = gradient_to_use(parameter, grad, options);
  Tensor buffer = state.momentum_buffer;
  if (options.momentum() != 0) {
    if (buffer.defined()) {
      buffer.mul_(options.momentum()).add_(direction, 1 - options.dampening());
    } else {
      check_may_make_state("SGD", parameter);
      buffer = direction.detach().clone();
    }
    direction = options.nesterov() ? direction.add(buffer, options.momentum()) : buffer;
  }
  parameter.add_(direction, -options.lr());
  state.momentum_buffer = buffer;
}

void SGD::update_fused(std::vector<ParamChange>& changes, const SGDOptions& options) {
  if (!options.fused() && is_addition(changes.front(), options)) return;
  const auto buffer_of = [](const ParamChange& change) -> Tensor& {
    return static_cast<SGDParamState&>(*change.state).momentum_buffer;
  };
  const auto sets = take_fused(
      changes, options.fused(), {&ops::_fused_sgd_},
      [&](const ParamChange& a, const ParamChange& b) { return buffer_of(a).defined() == buffer_of(b).defined(); });
  for (const FusedSet& set : sets) {
    const bool is_first = !buffer_of(set.front()).defined();
    std::vector<Tensor> buffers;
    if (options.momentum() != 0) {
      buffers = list_of(set, [&](const ParamChange& change) {
        Tensor buffer = buffer_of(change);
        make_state_of("SGD", change.parameter, buffer);
        return buffer;
      });
    }
    CountedStep count(set);
    _fused_sgd_(parameters_of(set), grads_of(set), buffers, options.weight_decay(), options.momentum(), options.lr(),
                options.dampening(), options.nesterov(), options.maximize(), is_first);
    for (std::size_t i = 0; i < buffers.size(); ++i) buffer_of(set[i]) = buffers[i];
    count.keep();
  }
}

}  // namespace keyway::inline v1::optim
