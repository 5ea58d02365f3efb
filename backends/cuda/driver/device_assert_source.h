// DeviceAssertSource: who has the slots that kernels note refused elements in (device_asserts.h). The backend is one,
// so that kernels of a library out of tree can ask it through its device guard.
#pragma once

#include <keyway/backends/cuda/driver/device_assert_target.h>

namespace keyway::inline v1::cuda {

class DeviceAssertSource {
 public:
  // What is noted there becomes an error of the next synchronisation with the stream. Both texts live as long as the
  // process.
  virtual DeviceAssertTarget assert_target(const char* op, const char* reason, Stream stream) = 0;

 protected:
  ~DeviceAssertSource() = default;
};

}  // namespace keyway::inline v1::cuda
