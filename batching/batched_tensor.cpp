#include <keyway/batching/batched_tensor.h>

#include <memory>

namespace keyway::inline v1::batching {

const BatchedValue* batched_value(const TensorBase& tensor) {
  if (!tensor.key_set().has(Functionality::Batched)) return nullptr;
  const auto* batched = static_cast<const BatchedValue*>(tensor.impl()->extra());
  KEYWAY_CHECK_AS(Internal, batched != nullptr, "vmap: a view of an example's tensor was made beside the dispatcher");
  return batched;
}

TensorBase make_batched(TensorBase value, const VmapLevel& level) {
  const IntArrayRef sizes = value.sizes();
  KEYWAY_CHECK_AS(Internal, !sizes.empty() && sizes[0] == level.batch_size(),
                  "vmap: a result for all of {} examples has shape {}", level.batch_size(), sizes);
  const IntArrayRef strides = value.strides();
  auto impl = make_intrusive<TensorImpl>(*value.impl(), sizes.slice(1), strides.slice(1), value.storage_offset(),
                                         value.numel() / sizes[0]);
  // What is dual is the value.
  impl->set_key_set(impl->key_set().remove(Functionality::ForwardAD) | DispatchKeySet(Functionality::Batched));
  impl->set_extra(std::make_unique<BatchedValue>(std::move(value), level.id()));
  return TensorBase(std::move(impl));
}

}  // namespace keyway::inline v1::batching
