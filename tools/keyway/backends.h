// Which backends there are.
#pragma once

#include <keyway/core/device/device.h>

#include <vector>

namespace keyway::inline v1::tools {

// Keyway's and those of plug-ins, in the order of their numbers.
inline std::vector<DeviceType> known_backends() {
  std::vector<DeviceType> types;
  for (int i = 0; i < kNumDeviceTypes; ++i) {
    const auto type = static_cast<DeviceType>(i);
    if (to_string(type) != "unknown") types.push_back(type);
  }
  return types;
}

}  // namespace keyway::inline v1::tools
