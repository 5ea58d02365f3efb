#include <keyway/autograd/forward_mode_hooks.h>
#include <keyway/autograd/variable.h>
#include <keyway/core/keys/thread_state.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/dispatch/call/fallback.h>
#include <keyway/dispatch/registry/library.h>
#include <keyway/forward/forward_kernel.h>
#include <keyway/forward/gradients.h>
#include <keyway/forward/in_place.h>
#include <keyway/forward/jvp_rules.h>
#include <keyway/forward/views.h>
#include <keyway/ops/all.h>

#include <optional>
#include <utility>

namespace keyway::inline v1::forward {
namespace {

// The innermost level that a tensor has a tangent at; null if none has.
LevelPtr level_of(Stack& values) {
  LevelPtr innermost;
  for_each_tensor(values, [&](const TensorBase& tensor) {
    const DualValue* dual = dual_value(tensor);
    if (dual != nullptr && dual->has_tangent() && (innermost == nullptr || dual->level()->id() > innermost->id()))
      innermost = dual->level();
  });
  return innermost;
}

bool has_ended_duals(const Stack& values) {
  return any_tensor_in(values, [](const TensorBase& tensor) {
    const DualValue* dual = dual_value(tensor);
    return dual != nullptr && !dual->has_tangent();
  });
}

// Tensors whose tangents are gone are what they are the duals of. What is written to is given back as the caller knows
// it.
void call_unwrapped(const OperatorEntry& op, Stack& values) {
  const Stack given = values;
  update_tensors(values, [](TensorBase& tensor) { tensor = unwrap_if_ended(tensor); });
  const Stack taken = values;
  call_boxed(op, values);
  update_tensors(values, [&](TensorBase& result) {
    for (std::size_t i = 0; i < taken.size(); ++i)
      if (taken[i].is_tensor() && taken[i].to_tensor().defined() && result.is_same(taken[i].to_tensor()))
        result = given[i].to_tensor();
  });
  if (!op.has_tag("inplace_view")) return;
  const TensorBase self = given[0].to_tensor(), changed = taken[0].to_tensor();
  self.impl()->set_geometry(changed.sizes(), changed.strides(), changed.storage_offset(), changed.numel());
}

// The memory that a tangent must not share with another tensor's.
bool is_tangents_memory(const TensorBase& tensor, const Stack& tangents) {
  return any_tensor_in(tangents, [&](const TensorBase& tangent) { return tangent.is_alias_of(tensor); });
}

// The results with their tangents.
Stack joined(JvpCall& call, Results results) {
  if (results.tangents.empty()) return std::move(results.primals);
  const bool is_view = call.op.schema().is_alias();
  for_each_pair(results.primals, results.tangents, [&](TensorBase& primal, const TensorBase& given) {
    if (!given.defined() || !autograd::is_differentiable(primal.dtype())) return;
    TensorBase tangent = given;
    if (!is_view) {
      KEYWAY_CHECK_AS(Internal, tangent.sizes() == primal.sizes(),
                      "forward mode: the tangent of a result of shape {} has "
                      "shape {}",
                      primal.sizes(), tangent.sizes());
      if (tangent.dtype() != primal.dtype()) tangent = Tensor(tangent).to(primal.dtype());
      tangent = laid_out_like(tangent, primal);
      if (is_tangents_memory(tangent, call.tangents)) tangent = Tensor(tangent).clone();
    }
    primal = make_dual_tensor(primal, std::move(tangent), call.level);
  });
  return std::move(results.primals);
}

// The arguments become the results.
void call_values(const OperatorEntry& op, DispatchKeySet below, Stack& values) {
  if (has_ended_duals(values)) return call_unwrapped(op, values);
  const LevelPtr level = level_of(values);
  if (level == nullptr) return redispatch_boxed(op, below, values);
  if (op.schema().is_mutable()) check_no_out(op);
  // What the function calls has the tangents.
  const bool is_function = is_written_with_others(op, below);
  std::optional<NoViewTrackingGuard> no_tracking;
  if (!is_function) no_tracking.emplace();
  if (call_metadata_op(op, level, values)) return;
  if (is_function) return redispatch_boxed(op, below, values);
  // The arguments are converted; calls that compute tangents are not the caller's.
  const ExcludeDispatchKeyGuard no_autocast{DispatchKeySet(Functionality::Autocast)};
  if (op.schema().is_mutable()) return call_in_place(op, level, values);
  JvpCall call = taken_apart(op, level, values);
  values = joined(call, rule_of(op)(call));
}

}  // namespace

JvpCall taken_apart(const OperatorEntry& op, const LevelPtr& level, const Stack& values) {
  JvpCall call{op, level, values, Stack(values.size())};
  for_each_pair(call.primals, call.tangents, [&](TensorBase& primal, TensorBase& tangent) {
    UnpackedDual parts = parts_at(primal, *level);
    primal = std::move(parts.primal);
    tangent = std::move(parts.tangent);
  });
  return call;
}

void call_dual(const OperatorEntry& op, const KernelBase&, DispatchKeySet keys, Stack& stack) {
  with_arguments(op, stack, [&](Stack& values) { call_values(op, keys.remove(Functionality::ForwardAD), values); });
}

void register_kernels() {
  static const bool registered = [] {
    Library library(Library::Kind::Impl, "_", DispatchKey::ForwardAD);
    library.fallback(&call_dual);
    library.commit().release();
    static constexpr autograd::ForwardModeHooks kHooks{&grad_of_duals, &unwrap_if_ended};
    autograd::set_forward_mode_hooks(kHooks);
    return true;
  }();
  static_cast<void>(registered);
}

}  // namespace keyway::inline v1::forward
