// DeviceAssertTarget: how a kernel refuses an element. Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/driver/device_asserts.h>
#include <keyway/ops/functors/element_error.h>

namespace keyway::inline v1::cuda {

// What a kernel writes, and where to; its functor may have no reason to.
struct DeviceAssertTarget {
  const DeviceAssert* what = nullptr;
  DeviceAssertSlot* slot = nullptr;
};
// For the operator that runs; nothing to write if `reason` is null.
DeviceAssertTarget device_assert_target(const char* reason, Stream stream);

}  // namespace keyway::inline v1::cuda
