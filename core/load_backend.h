// load_backend: how a device type whose backend comes with Keyway, in a library of its own, gets served. Internal to
// core/ and dispatch/.
#pragma once

#include <keyway/core/device.h>

#include <string>

namespace keyway::inline v1 {

namespace detail {
// Defined in dispatch/, which loads plug-ins; null where core is linked alone, or with no more of the archive than is
// referred to.
[[gnu::weak]] std::string load_backend(DeviceType type);
}  // namespace detail

// Loads the backend's library, if there is one and nobody loaded it. Returns why the type is not served; empty if it
// is, or if Keyway has no backend for it.
inline std::string load_backend(DeviceType type) {
  return detail::load_backend == nullptr ? std::string() : detail::load_backend(type);
}

}  // namespace keyway::inline v1
