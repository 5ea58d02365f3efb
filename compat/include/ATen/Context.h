// What is set for the whole program.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

namespace at {

struct Context {
  // Keyway's operators give the same bits each time, and an extension is asked for no less.
  bool deterministicAlgorithms() const { return true; }
  bool hasCUDA() const { return keyway::device_count(DeviceType::CUDA) > 0; }
};
inline Context& globalContext() {
  static Context context;
  return context;
}

}  // namespace at
