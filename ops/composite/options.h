// The four arguments of a new tensor as TensorOptions.
#pragma once

#include <keyway/core/tensor/tensor_options.h>

#include <optional>

namespace keyway::inline v1::composite {

using DType = std::optional<ScalarType>;
using LayoutArg = std::optional<Layout>;
using DeviceArg = std::optional<Device>;
using Pin = std::optional<bool>;

inline TensorOptions options_of(DType dtype, LayoutArg layout, DeviceArg device, Pin pin_memory) {
  return TensorOptions().dtype(dtype).layout(layout).device(device).pinned_memory(pin_memory);
}

}  // namespace keyway::inline v1::composite
