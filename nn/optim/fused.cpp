#include <keyway/core/device/stream.h>
#include <keyway/nn/optim/fused.h>
#include <keyway/ops/all.h>

#include <algorithm>

namespace keyway::inline v1::optim {

namespace {

bool is_fusable(const Tensor& parameter, std::initializer_list<const OperatorEntry*> operators) {
  return parameter.is_floating_point() && !parameter.is_meta() &&
         std::ranges::all_of(operators,
                             [&](const OperatorEntry* op) { return op->has_kernel_for(parameter.device().type()); });
}

}  // namespace

std::vector<FusedSet> take_fused(std::vector<ParamChange>& changes, std::optional<bool> fused,
                                 std::initializer_list<const OperatorEntry*> operators,
                                 const std::function<bool(const ParamChange&, const ParamChange&)>& also_alike) {
  std::vector<FusedSet> sets;
  std::vector<ParamChange> others;
  for (ParamChange& change : changes) {
    if (!(fused ? *fused : is_fusable(change.parameter, operators))) {
      others.push_back(std::move(change));
      continue;
    }
    const auto takes = [&](const FusedSet& set) {
      const Tensor& first = set.front().parameter;
      return first.device() == change.parameter.device() && first.dtype() == change.parameter.dtype() &&
             also_alike(set.front(), change);
    };
    const auto found = std::find_if(sets.begin(), sets.end(), takes);
    FusedSet& set = found == sets.end() ? sets.emplace_back() : *found;
    set.push_back(std::move(change));
  }
  changes = std::move(others);
  return sets;
}

std::vector<Tensor> parameters_of(const FusedSet& set) {
  return list_of(set, [](const ParamChange& change) { return change.parameter; });
}

std::vector<Tensor> grads_of(const FusedSet& set) {
  return list_of(set, [](const ParamChange& change) { return change.grad; });
}

bool is_captured(const Tensor& parameter) {
  return parameter.is_cuda() && current_stream(parameter.device()).is_capturing();
}

void check_may_make_state(const char* optimizer, const Tensor& parameter) {
  KEYWAY_CHECK(!is_captured(parameter),
               "{}: the first step makes the optimizer's state, which is no part of a graph: take a step before one is "
               "captured",
               optimizer);
}

void make_state_of(const char* optimizer, const Tensor& parameter, Tensor& state, double value) {
  if (state.defined()) return;
  check_may_make_state(optimizer, parameter);
  state = value == 0 ? zeros_like(parameter) : full_like(parameter, value);
}

void make_states_of(const char* optimizer, const Tensor& parameter, std::initializer_list<Tensor*> states) {
  for (Tensor* state : states) make_state_of(optimizer, parameter, *state);
}

void count_steps(const char* optimizer, const FusedSet& set,
                 const std::function<void(const std::vector<Tensor>&)>& step) {
  const std::vector<Tensor> steps = list_of(set, [&](const ParamChange& change) {
    Tensor& number = change.state->device_step;
    if (!number.defined()) {
      check_may_make_state(optimizer, change.parameter);
      const auto before = static_cast<double>(change.state->step);
      number = full({}, before, TensorOptions().dtype(kFloat).device(change.parameter.device()));
    }
    return number;
  });
  CountedStep count(set);
  _foreach_add_(steps, 1);
  try {
    step(steps);
  } catch (...) {
    _foreach_add_(steps, -1);
    throw;
  }
  count.keep();
}

}  // namespace keyway::inline v1::optim
