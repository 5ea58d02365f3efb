// Which operators of a device are judged.
#pragma once

#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/tools/keyway/conform/report.h>

#include <optional>

namespace keyway::inline v1::tools {

// What is known of an operator from the registry alone: no call of it is made then. Nothing if the device has a kernel
// of its own, or, with `any_kernel`, the fallback or a composition serves it.
std::optional<ConformState> state_without_calls(const OperatorHandle& op, DeviceType device, bool any_kernel);

}  // namespace keyway::inline v1::tools
