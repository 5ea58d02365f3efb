// Judge: makes one call of an operator and says whether it is right.
#pragma once

#include <keyway/core/device/device.h>
#include <keyway/tools/keyway/fuzz/outcome.h>
#include <keyway/tools/keyway/fuzz/value.h>

#include <vector>

namespace keyway::inline v1::tools {

class Judge {
 public:
  // Of calls with the tensors on devices of that type.
  explicit Judge(DeviceType device) : device_(device) {}
  virtual ~Judge() = default;

  DeviceType device() const { return device_; }

  // In this process: a call that crashes or hangs does not come back.
  virtual Outcome judge(const std::vector<Value>& values) const = 0;

 private:
  DeviceType device_;
};

}  // namespace keyway::inline v1::tools
