// Memory, events and graphs of devices, counted for the plug-in whose code takes them back, so that it is not unloaded
// under them (LibraryResources). What belongs to the program, or to a library that stays, is not counted; nor is what a
// plug-in makes of its own devices while it is loaded: that goes with it.
#pragma once

#include <keyway/core/base/library_resources.h>
#include <keyway/core/device/allocator.h>
#include <keyway/core/device/device_guard_impl.h>

#include <cstddef>
#include <vector>

namespace keyway::inline v1 {

// `bytes` of `device`, or of the memory of the CPU that is pinned for its type; of the current device where it has no
// index. Throws keyway::Error as get_allocator() and DeviceGuard do; NotImplemented where the backend is being
// unloaded.
KEYWAY_API DataPtr allocate_held(Device device, ResourceKind what, std::size_t bytes);

// A device type's implementation, and a hold of one thing that is about to be made by it.
struct HeldGuard {
  DeviceGuardImplInterface& impl;
  LibraryResource hold;
};
// Throws keyway::Error as device_guard_impl() does; NotImplemented where the backend is being unloaded.
KEYWAY_API HeldGuard hold_device_guard(DeviceType type, ResourceKind what);

// The device types whose guards a library has registered, by their numbers.
KEYWAY_API std::vector<DeviceType> device_types_served_by(const LibraryResources& library);

}  // namespace keyway::inline v1
