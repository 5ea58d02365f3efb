// Where functions that make tensors from options make them when no `device` is named.
#pragma once

#include <keyway/core/device/device.h>

#include <optional>

namespace keyway::inline v1::python {

// Of this thread: what set_default_device or the innermost `with keyway.device(...)` says. None: the CPU.
std::optional<Device> default_device();
// Gives what it was before.
std::optional<Device> exchange_default_device(std::optional<Device> device);

}  // namespace keyway::inline v1::python
