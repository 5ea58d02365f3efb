// RegistryBefore: what was registered before plug-ins were loaded, and so which operators and kernels are theirs.
#pragma once

#include <keyway/core/device/device.h>
#include <keyway/dispatch/registry/dispatcher.h>

#include <array>
#include <map>

namespace keyway::inline v1::tools {

class RegistryBefore {
 public:
  // Remembers what is registered now.
  RegistryBefore();

  // The operator's table then, which is valid for ever; null for one that came later.
  const Table* table_of(const OperatorEntry& op) const;
  // Whether calls with dense tensors of the device meet other kernels now, at the backend's key or above it; true of an
  // operator that came later.
  bool is_changed(const OperatorHandle& op, DeviceType device) const;
  // Whether calls with dense tensors of the device ended at a kernel of the operator then.
  bool has_kernel(const OperatorHandle& op, DeviceType device) const;
  // Whether the device type's backend came later.
  bool lacks_backend(DeviceType device) const;

 private:
  std::map<const OperatorEntry*, const Table*> tables_;
  std::array<bool, kNumDeviceTypes> has_backend_{};
};

}  // namespace keyway::inline v1::tools
