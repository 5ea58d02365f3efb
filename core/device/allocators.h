// The allocators that are plugged in, by device type. Internal to core/.
#pragma once

#include <keyway/core/base/setting.h>
#include <keyway/core/device/allocator.h>

#include <array>

namespace keyway::inline v1::detail {

// Null: none, and for the CPU host_allocator().
extern constinit std::array<Setting<Allocator*>, kNumDeviceTypes> allocators;

}  // namespace keyway::inline v1::detail
