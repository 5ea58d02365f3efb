// load_backend: how a device type whose backend is a library of its own gets served. Internal to core/ and dispatch/.
#pragma once

#include <keyway/core/device/device.h>

#include <string>
#include <string_view>

namespace keyway::inline v1 {

namespace detail {
// Defined in dispatch/, which loads plug-ins; null where core is linked alone, or with no more of the archive than is
// referred to.
[[gnu::weak]] std::string load_backend(std::string_view name);
}  // namespace detail

// Loads the backend of the device type called `name`, known or not: libkeyway_<name>.so beside libkeyway.so or in a
// folder of KEYWAY_PLUGIN_PATH, if nobody did. Returns why the type is not served, with the file and the folders; empty
// if it is. Requires: a name that a device type may have; no lock is held that the plug-in's function may want.
inline std::string load_backend(std::string_view name) {
  return detail::load_backend == nullptr ? std::string() : detail::load_backend(name);
}
inline std::string load_backend(DeviceType type) { return load_backend(to_string(type)); }

}  // namespace keyway::inline v1
