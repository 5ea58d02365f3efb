// Tensors of their own over the memory of others, without history: what nodes save, `data` and the like. A wrapper
// tensor of Python is more than its memory, of which it has none: what its object holds comes along.
#pragma once

#include <keyway/autograd/capture_listener.h>
#include <keyway/core/tensor/tensor_base.h>

namespace keyway::inline v1::autograd {

// What is asked of Python, which stands above, about tensors with the key Python.
struct WrapperHooks {
  TensorBase (*alias_of)(const TensorBase& wrapper);
  void (*take_attributes)(const TensorBase& self, const TensorBase& other);
};
// Said before the first wrapper tensor is made; it is so from then on.
KEYWAY_API void set_wrapper_hooks(const WrapperHooks& hooks);

namespace detail {
KEYWAY_API KEYWAY_COLD TensorBase alias_of_wrapper(const TensorBase& wrapper);
KEYWAY_COLD void take_attributes_of_wrapper(const TensorBase& self, const TensorBase& other);
}  // namespace detail

inline TensorBase alias_of(const TensorBase& tensor) {
  const TensorImpl& impl = *tensor.impl();
  if (impl.key_set().has(Functionality::Python)) [[unlikely]]
    return detail::alias_of_wrapper(tensor);
  TensorBase alias(make_intrusive<TensorImpl>(impl, impl.sizes(), impl.strides(), impl.storage_offset(), impl.numel()));
  if (capture_listener != nullptr) [[unlikely]]
    capture_listener->alias_made(tensor, alias);
  return alias;
}

// `self` is about to get the geometry and storage of `other`: a wrapper tensor gets what the other's object holds.
// Throws keyway::Error if only one of them is a wrapper tensor, or if their classes differ.
inline void take_attributes(const TensorBase& self, const TensorBase& other) {
  if ((self.key_set() | other.key_set()).has(Functionality::Python)) [[unlikely]]
    detail::take_attributes_of_wrapper(self, other);
}

}  // namespace keyway::inline v1::autograd
