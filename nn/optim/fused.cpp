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

std::vector<Tensor> count_steps(const FusedSet& set) {
  std::vector<Tensor> steps = list_of(set, [](const ParamChange& change) {
    Tensor& step = change.state->device_step;
    if (!step.defined()) {
      check_may_make_state("Adam", change.parameter);
      const auto before = static_cast<double>(change.state->step - 1);
      step = full({}, before, TensorOptions().dtype(kFloat).device(change.parameter.device()));
    }
    return step;
  });
  _foreach_add_(steps, 1);
  return steps;
}

}  // namespace keyway::inline v1::optim
