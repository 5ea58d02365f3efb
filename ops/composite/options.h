// The four arguments of a new tensor as TensorOptions.
#pragma once

#include <keyway/core/tensor_options.h>

#include <optional>

namespace keyway::inline v1::composite {

inline TensorOptions options_of(std::optional<ScalarType> dtype, std::optional<Layout> layout,
                                std::optional<Device> device, std::optional<bool> pin_memory) {
  return TensorOptions().dtype(dtype).layout(layout).device(device).pinned_memory(pin_memory);
}

}  // namespace keyway::inline v1::composite
