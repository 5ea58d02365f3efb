// Types of devices.
#pragma once

#include <keyway/core/device/device.h>

#include <algorithm>
#include <cctype>
#include <keyway_compat/namespaces.h>
#include <string>

namespace c10 {

// "CPU", or "cpu".
inline std::string DeviceTypeName(DeviceType type, bool lower_case = false) {
  std::string name(keyway::to_string(type));
  if (!lower_case) std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
  return name;
}

}  // namespace c10
