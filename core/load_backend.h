// load_backend: how a device type whose backend comes with Keyway, in a library of its own, gets served. Internal to
// core/ and dispatch/.
#pragma once

#include <keyway/core/device.h>

#include <string>

namespace keyway::inline v1 {

// Loads the backend's library, if there is one and nobody loaded it. Returns why the type is not served; empty if it
// is, or if Keyway has no backend for it. Defined in dispatch/, which loads plug-ins; null where core is linked alone.
[[gnu::weak]] std::string load_backend(DeviceType type);

}  // namespace keyway::inline v1
