#include <keyway/core/base/error.h>
#include <keyway/forward/dual_tensor.h>
#include <keyway/ops/all.h>

#include <memory>

namespace keyway::inline v1::forward {

const DualValue* dual_value(const TensorBase& tensor) {
  if (!tensor.key_set().has(Functionality::ForwardAD)) return nullptr;
  const auto* dual = static_cast<const DualValue*>(tensor.impl()->extra());
  KEYWAY_CHECK_AS(Internal, dual != nullptr, "forward mode: a view of a dual tensor was made beside the dispatcher");
  return dual;
}

TensorBase unwrap_if_ended(const TensorBase& tensor) {
  TensorBase current = tensor;
  for (const DualValue* dual = dual_value(current); dual != nullptr && !dual->has_tangent(); dual = dual_value(current))
    current = TensorBase(dual->primal());
  return current;
}

TensorBase innermost_primal(const TensorBase& tensor) {
  TensorBase current = tensor;
  while (const DualValue* dual = dual_value(current)) current = TensorBase(dual->primal());
  return current;
}

bool requires_grad(const TensorBase& tensor) { return innermost_primal(tensor).requires_grad(); }

TensorBase make_dual_tensor(TensorBase primal, TensorBase tangent, LevelPtr level) {
  auto impl = make_intrusive<TensorImpl>(*primal.impl(), primal.sizes(), primal.strides(), primal.storage_offset(),
                                         primal.numel());
  impl->set_key_set(impl->key_set() | DispatchKeySet(Functionality::ForwardAD));
  impl->set_extra(std::make_unique<DualValue>(std::move(primal), std::move(tangent), std::move(level)));
  return TensorBase(std::move(impl));
}

namespace {

// Of dimensions that have more than one element.
bool have_same_strides(const TensorBase& a, const TensorBase& b) {
  for (std::size_t i = 0; i < a.sizes().size(); ++i)
    if (a.sizes()[i] > 1 && a.strides()[i] != b.strides()[i]) return false;
  return true;
}

bool may_overlap(const TensorBase& tensor) {
  for (std::size_t i = 0; i < tensor.sizes().size(); ++i)
    if (tensor.sizes()[i] > 1 && tensor.strides()[i] == 0) return true;
  return false;
}

}  // namespace

TensorBase laid_out_like(const TensorBase& tangent, const TensorBase& primal) {
  if (have_same_strides(tangent, primal) && !may_overlap(tangent)) return tangent;
  const Tensor given(tangent);
  if (may_overlap(primal)) return given.clone(MemoryFormat::Contiguous);
  const Tensor like = keyway::empty_strided(primal.sizes(), primal.strides(),
                                            TensorOptions().dtype(tangent.dtype()).device(tangent.device()));
  return like.copy_(given);
}

UnpackedDual parts_at(const TensorBase& tensor, const DualLevelState& level) {
  const DualValue* dual = dual_value(tensor);
  if (dual == nullptr || dual->level()->id() != level.id()) return {Tensor(tensor), {}};
  return {Tensor(dual->primal()), Tensor(dual->tangent())};
}

}  // namespace keyway::inline v1::forward
