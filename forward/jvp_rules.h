// Rules: how the tangents of a call's results come of those of its arguments. Which one an operator has, its entry says
// (OpInfo::jvp).
#pragma once

#include <keyway/dispatch/call/boxed_tensors.h>
#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/forward/dual_tensor.h>
#include <keyway/tensor.h>

#include <cstddef>
#include <functional>
#include <string_view>

namespace keyway::inline v1::forward {

// A call of an operator, its arguments taken apart at a level. `tangents` parallels `primals`: for a defined tensor it
// has the tangent, undefined if there is none; for a list, a list of the same length; all other slots are None.
struct JvpCall {
  const OperatorEntry& op;
  LevelPtr level;
  Stack primals;
  Stack tangents;

  // Where the argument of that name stands. Throws keyway::Error(Internal) if there is none: the generator refuses
  // entries without those that their rules read.
  std::size_t position_of(std::string_view argument) const { return op.position_of(argument); }
  // Whether a derivative is taken by the argument.
  bool is_derived(std::size_t argument) const { return (op.info().derived >> argument & 1) != 0; }
};

// The results of a call, taken apart in the same way. An empty `tangents` says that none of the results has one.
struct Results {
  Stack primals;
  Stack tangents;
};

using JvpRule = Results (*)(const JvpCall& call);
// There is no derivative: results are plain.
Results primal_only(const JvpCall& call);
// Two backwards of the call: the first for weights that the second differentiates by.
Results general(const JvpCall& call);
// What the others do is said where their names are, in core/schema/transform_rules.h.
Results pointwise(const JvpCall& call);
Results linear(const JvpCall& call);
Results multilinear(const JvpCall& call);
Results sum(const JvpCall& call);
Results difference(const JvpCall& call);
Results as_strided(const JvpCall& call);
Results added_product(const JvpCall& call);
Results convolution(const JvpCall& call);

JvpRule rule_of(const OperatorEntry& op);

// --- What rules are made of

JvpCall taken_apart(const OperatorEntry& op, const LevelPtr& level, const Stack& values);
// Calls `visit(primal, tangent)` with each defined tensor of two stacks of one structure, and lets it change both.
void for_each_pair(Stack& primals, Stack& tangents, const std::function<void(TensorBase&, TensorBase&)>& visit);
// The arguments of the call of the tangents.
Stack linear_arguments(const JvpCall& call);
// The sum of calls with one argument replaced by its tangent; of an operator that changes its first argument, of calls
// that change a copy. Undefined if no argument has a tangent.
Tensor sum_over_tangents(const JvpCall& call);
// Zeros like a tensor, which take no memory.
Tensor zeros_for(const TensorBase& tensor);
// Whether gradients flow to primals or tangents.
bool has_history(const JvpCall& call);

}  // namespace keyway::inline v1::forward
