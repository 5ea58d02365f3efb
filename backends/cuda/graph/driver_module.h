// DriverModule: machine code that is made at run time, on a device. CUDA's driver loads and launches it; the library is
// opened when it is first needed, and no header of it is. Internal to backends/cuda/graph.
#pragma once

#include <keyway/core/device/stream.h>

#include <string>

namespace keyway::inline v1::cuda {

// The architecture of a device, as NVRTC names it: "sm_90". Throws keyway::Error for a call of the driver that fails.
std::string architecture_of(Device device);

// Stays loaded as long as the process.
class DriverModule {
 public:
  // For the device that is current. Throws as above.
  DriverModule(const std::string& image, const char* kernel);
  // Puts the kernel into a stream of the device. `argument` is what it takes, copied before this returns.
  void launch(Stream stream, unsigned blocks, unsigned threads, const void* argument) const;

 private:
  void* function_ = nullptr;
};

}  // namespace keyway::inline v1::cuda
