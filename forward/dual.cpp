#include <keyway/autograd/alias.h>
#include <keyway/autograd/variable.h>
#include <keyway/batching/batched_tensor.h>
#include <keyway/batching/vmap_rules.h>
#include <keyway/core/base/error.h>
#include <keyway/forward/dual.h>
#include <keyway/forward/dual_tensor.h>
#include <keyway/forward/views.h>
#include <keyway/ops/all.h>

#include <algorithm>

namespace keyway::inline v1::forward {
namespace {

LevelPtr current_level(const char* asked) {
  const DualLevel* level = DualLevel::innermost();
  KEYWAY_CHECK(level != nullptr, "{}: there is no level of forward mode: make a DualLevel first", asked);
  return level->shared();
}

// The innermost level that one of both is batched at; null if none is.
const batching::VmapLevel* batch_level(const TensorBase& a, const TensorBase& b) {
  std::uint64_t id = 0;
  for (const TensorBase* tensor : {&a, &b})
    if (const batching::BatchedValue* batched = batching::batched_value(*tensor)) id = std::max(id, batched->level());
  if (id == 0) return nullptr;
  const batching::VmapLevel* level = batching::find_level(id);
  KEYWAY_CHECK(
      level != nullptr,
      "vmap: a tensor of a single example is used outside of the vmap that it belongs to, or in another thread");
  return level;
}

// Where the gradient of an input ends that is recorded for one call alone. No leaf: nothing accumulates there.
class CallInput final : public autograd::Node {
 public:
  CallInput() { add_next_edge({}); }
  std::string name() const override { return "ForwardCallInput"; }
  autograd::variable_list apply(autograd::variable_list&&) override { return autograd::variable_list(1); }
};

// The tensor with its tangents, its innermost primal changed.
template <typename F>
Tensor with_primal(const Tensor& tensor, const F& change) {
  const TensorBase live = unwrap_if_ended(tensor);
  const DualValue* dual = dual_value(live);
  if (dual == nullptr) return change(Tensor(live));
  return Tensor(make_dual_tensor(with_primal(Tensor(dual->primal()), change), dual->tangent(), dual->level()));
}

}  // namespace

Tensor make_dual_at(const Tensor& tensor, const Tensor& tangent, const LevelPtr& level) {
  KEYWAY_CHECK(tensor.defined() && tangent.defined(), "make_dual: a tensor is undefined");
  KEYWAY_CHECK_AS(Type, autograd::is_differentiable(tensor.dtype()),
                  "make_dual: a tensor of {} has no tangent: only floating and complex ones do", tensor.dtype());
  KEYWAY_CHECK(
      tangent.sizes() == tensor.sizes() && tangent.dtype() == tensor.dtype() && tangent.device() == tensor.device(),
      "make_dual: the tangent, {}, must have the shape, dtype and device of the tensor, {}", describe(tangent),
      describe(tensor));
  if (const batching::VmapLevel* batch = batch_level(tensor, tangent)) {
    const batching::OutsideLevelGuard outside(batch);
    const Tensor primals(batching::expand_to_batch(tensor, *batch)),
        tangents(batching::expand_to_batch(tangent, *batch));
    return Tensor(batching::make_batched(make_dual_at(primals, tangents, level), *batch));
  }
  const TensorBase primal = unwrap_if_ended(tensor);
  const DualValue* dual = dual_value(primal);
  KEYWAY_CHECK(dual == nullptr || dual->level()->id() < level->id(),
               "make_dual: the tensor has a tangent at this level, or at one within it");
  return Tensor(make_dual_tensor(primal, laid_out_like(tangent, primal), level));
}

UnpackedDual unpack_dual_at(const Tensor& tensor, const DualLevelState& level) {
  KEYWAY_CHECK(tensor.defined(), "unpack_dual: the tensor is undefined");
  if (const batching::VmapLevel* batch = batch_level(tensor, {})) {
    const batching::OutsideLevelGuard outside(batch);
    UnpackedDual parts = unpack_dual_at(Tensor(*batching::value_at(tensor, *batch)), level);
    parts.primal = Tensor(batching::make_batched(parts.primal, *batch));
    if (parts.tangent.defined()) parts.tangent = Tensor(batching::make_batched(parts.tangent, *batch));
    return parts;
  }
  return parts_at(unwrap_if_ended(tensor), level);
}

Tensor as_grad_input(const Tensor& tensor) {
  return with_primal(tensor, [](const Tensor& primal) {
    return primal.requires_grad() && grad_enabled() ? keyway::alias(primal) : primal.detach().requires_grad_();
  });
}

Tensor as_recorded_input(const Tensor& tensor, bool keeps) {
  return with_primal(tensor, [&](const Tensor& primal) {
    if (keeps && primal.requires_grad()) return keyway::alias(primal);
    const Tensor input = primal.is_inference() ? primal.clone() : Tensor(autograd::alias_of(primal));
    autograd::set_history(input, make_intrusive<CallInput>());
    return input;
  });
}

Tensor without_history(const Tensor& tensor) {
  const TensorBase live = unwrap_if_ended(tensor);
  if (const DualValue* dual = dual_value(live))
    return Tensor(make_dual_tensor(without_history(Tensor(dual->primal())), without_history(Tensor(dual->tangent())),
                                   dual->level()));
  return live.requires_grad() ? Tensor(autograd::alias_of(live)) : Tensor(live);
}

}  // namespace keyway::inline v1::forward

namespace keyway::inline v1 {

Tensor make_dual(const Tensor& tensor, const Tensor& tangent) {
  const forward::NoViewTrackingGuard no_tracking;
  return forward::make_dual_at(keyway::alias(tensor), tangent, forward::current_level("make_dual"));
}

UnpackedDual unpack_dual(const Tensor& tensor) {
  return forward::unpack_dual_at(tensor, *forward::current_level("unpack_dual"));
}

}  // namespace keyway::inline v1
