// What optimizers share that change many parameters with one operator. Internal to nn/optim.
#pragma once

#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/nn/optim/optimizer.h>

#include <functional>
#include <initializer_list>
#include <optional>
#include <vector>

namespace keyway::inline v1::optim {

// The parameters of one call: on one device, of one dtype.
using FusedSet = std::vector<ParamChange>;

// Takes out of `changes` what is to be changed together: all if `fused` is true, nothing if it is false. If it is not
// said, floating point parameters on devices for which each of `operators`, that a fused step calls, has a kernel.
// `also_alike`: a further condition of one set.
std::vector<FusedSet> take_fused(std::vector<ParamChange>& changes, std::optional<bool> fused,
                                 std::initializer_list<const OperatorEntry*> operators,
                                 const std::function<bool(const ParamChange&, const ParamChange&)>& also_alike);

// What `member` is of each change.
template <typename Member>
std::vector<Tensor> list_of(const FusedSet& set, const Member& member) {
  std::vector<Tensor> list;
  list.reserve(set.size());
  for (const ParamChange& change : set) list.push_back(member(change));
  return list;
}
std::vector<Tensor> parameters_of(const FusedSet& set);
std::vector<Tensor> grads_of(const FusedSet& set);

// Throws in a capture: what `optimizer` makes in its first step, each replay would make anew.
void check_may_make_state(const char* optimizer, const Tensor& parameter);
bool is_captured(const Tensor& parameter);
// Makes a tensor of a state, like the parameter and full of `value`, unless there is one. Throws in a capture.
void make_state_of(const char* optimizer, const Tensor& parameter, Tensor& state, double value = 0);
// Makes several, full of zeros.
void make_states_of(const char* optimizer, const Tensor& parameter, std::initializer_list<Tensor*> states);

// Calls `step` with the numbers of the steps, each one more than before, on the parameters' device. Steps are counted
// unless it throws.
void count_steps(const char* optimizer, const FusedSet& set,
                 const std::function<void(const std::vector<Tensor>& steps)>& step);

}  // namespace keyway::inline v1::optim
