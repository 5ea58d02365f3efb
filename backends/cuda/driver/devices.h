// Devices: what the machine has. Internal to backends/cuda.
#pragma once

#include <string>
#include <vector>

namespace keyway::inline v1::cuda {

// Further ones are not seen.
inline constexpr int kMaxDevices = 64;

struct DeviceProperties {
  std::string name;
  int major, minor;  // compute capability
  int multiprocessors;
};

struct Devices {
  std::vector<DeviceProperties> all;
  std::string problem;  // why there are none, for people; empty if there are
};

// Looked up once in a process. None, with a problem, in a process that was forked from one that looked: CUDA cannot be
// used there.
const Devices& devices() noexcept;

}  // namespace keyway::inline v1::cuda
