// Arguments of functions that are about the devices of one type.
#pragma once

#include <keyway/core/device/device.h>
#include <keyway/python/nanobind.h>

#include <string>

namespace keyway::inline v1::python {

// The type of keyway.<name>, which is known. Throws keyway::Error for a name that no type has.
DeviceType device_type_named(const std::string& name);

// The argument `device` of PyTorch's functions: text, a number or a device of the type, and None for the current one.
// Loads the backend. Throws keyway::Error as DeviceGuard does.
Device device_argument(DeviceType type, nb::handle object);

// The type that devices of an absent argument are of: CUDA where there is a device of it, else the first registered
// type that has devices, else CUDA.
DeviceType accelerator();

// Has keyway._backends see device types that have become known since the last call. What it costs is a look at 21
// names.
void attach_device_types();
// The same if it has not seen this one.
void attach_device_type(DeviceType type);

}  // namespace keyway::inline v1::python
