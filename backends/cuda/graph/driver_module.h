// DriverModule: machine code that is made at run time, on a device. CUDA's driver loads and launches it; the library is
// opened when it is first needed, and no header of it is. Internal to backends/cuda/graph.
#pragma once

#include <keyway/core/device/stream.h>

#include <string>

namespace keyway::inline v1::cuda {

// The major version of CUDA that the driver is of, 13; 0 where there is no driver.
int driver_version();

// The compute capability of a device, 90 for 9.0. Throws keyway::Error for a call of the driver that fails.
int capability_of(Device device);

// Stays loaded as long as the process.
class DriverModule {
 public:
  // For the device that is current. Requires: the thread has made it current by set_device(); one that has only ever
  // worked with the first device may have no context of the driver, which modules are loaded into. Throws as above.
  DriverModule(const std::string& image, const char* kernel);
  // Puts the kernel into a stream of the device. `argument` is what it takes, copied before this returns.
  void launch(Stream stream, unsigned blocks, unsigned threads, const void* argument) const;

 private:
  void* function_ = nullptr;
};

}  // namespace keyway::inline v1::cuda
