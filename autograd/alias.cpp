#include <keyway/autograd/alias.h>
#include <keyway/core/base/error.h>

#include <atomic>

namespace keyway::inline v1::autograd {
namespace {

constinit std::atomic<const WrapperHooks*> wrapper_hooks{nullptr};

bool is_wrapper(const TensorBase& tensor) { return tensor.key_set().has(Functionality::Python); }

}  // namespace

TensorBase alias_of(const TensorBase& tensor) {
  const TensorImpl& impl = *tensor.impl();
  if (is_wrapper(tensor)) [[unlikely]] {
    if (const WrapperHooks* hooks = wrapper_hooks.load(std::memory_order_acquire)) return hooks->alias_of(tensor);
  }
  return TensorBase(
      make_intrusive<TensorImpl>(impl, impl.sizes(), impl.strides(), impl.storage_offset(), impl.numel()));
}

void take_attributes(const TensorBase& self, const TensorBase& other) {
  if (!is_wrapper(self) && !is_wrapper(other)) return;
  KEYWAY_CHECK_AS(Type, is_wrapper(self) && is_wrapper(other),
                  "one of the tensors, {} and {}, is a wrapper tensor, and cannot take or give the other's memory",
                  describe(self), describe(other));
  if (const WrapperHooks* hooks = wrapper_hooks.load(std::memory_order_acquire)) hooks->take_attributes(self, other);
}

void set_wrapper_hooks(const WrapperHooks& hooks) { wrapper_hooks.store(&hooks, std::memory_order_release); }

}  // namespace keyway::inline v1::autograd
