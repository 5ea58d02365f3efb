#include <keyway/autograd/alias.h>
#include <keyway/core/base/error.h>

#include <atomic>

namespace keyway::inline v1::autograd {
namespace {

constinit std::atomic<const WrapperHooks*> wrapper_hooks{nullptr};

bool is_wrapper(const TensorBase& tensor) { return tensor.key_set().has(Functionality::Python); }

}  // namespace

void set_wrapper_hooks(const WrapperHooks& hooks) { wrapper_hooks.store(&hooks, std::memory_order_release); }

TensorBase detail::alias_of_wrapper(const TensorBase& wrapper) {
  const WrapperHooks* const hooks = wrapper_hooks.load(std::memory_order_acquire);
  return hooks != nullptr ? hooks->alias_of(wrapper) : make_view(wrapper);
}

void detail::take_attributes_of_wrapper(const TensorBase& self, const TensorBase& other) {
  KEYWAY_CHECK_AS(Type, is_wrapper(self) && is_wrapper(other),
                  "one of the tensors, {} and {}, is a wrapper tensor, and cannot take or give the other's memory",
                  describe(self), describe(other));
  if (const WrapperHooks* const hooks = wrapper_hooks.load(std::memory_order_acquire))
    hooks->take_attributes(self, other);
}

}  // namespace keyway::inline v1::autograd
