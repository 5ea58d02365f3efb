// device_of: where a tensor lies, if there is one; for an OptionalDeviceGuard.
#pragma once

#include <keyway/core/base/array_ref.h>
#include <keyway/core/tensor/tensor_base.h>

#include <concepts>
#include <optional>

namespace keyway::inline v1 {

// Nothing for an undefined tensor.
inline std::optional<Device> device_of(const TensorBase& tensor) {
  return tensor.defined() ? std::optional(tensor.device()) : std::nullopt;
}
template <std::derived_from<TensorBase> T>
std::optional<Device> device_of(const std::optional<T>& tensor) {
  return tensor ? device_of(*tensor) : std::nullopt;
}
// Of the first; nothing for an empty list.
template <std::derived_from<TensorBase> T>
std::optional<Device> device_of(ArrayRef<T> tensors) {
  return tensors.empty() ? std::nullopt : device_of(tensors.front());
}

}  // namespace keyway::inline v1
