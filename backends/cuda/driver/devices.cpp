#include <keyway/backends/cuda/driver/check.h>
#include <keyway/backends/cuda/driver/devices.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fmt/format.h>
#include <pthread.h>

namespace keyway::inline v1::cuda {

namespace {

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::string why_none(cudaError_t status) {
  int driver = 0, runtime = 0;
  (void)cudaDriverGetVersion(&driver);
  (void)cudaRuntimeGetVersion(&runtime);
  if (driver == 0) return "no CUDA driver is installed";
  if (status == cudaErrorInsufficientDriver) {
    return fmt::format("the driver is for CUDA {}, and this build for {}: the driver is too old", version_text(driver),
                       version_text(runtime));
  }
  if (status == cudaErrorNoDevice || status == cudaSuccess) {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    return visible == nullptr
               ? std::string("the CUDA driver finds no device")
               : fmt::format("the CUDA driver finds no device, where CUDA_VISIBLE_DEVICES is '{}'", visible);
  }
  return fmt::format("the CUDA driver fails: {} ({})", cudaGetErrorString(status), cudaGetErrorName(status));
}

DeviceProperties properties_of(int device) {
  cudaDeviceProp found{};
  KEYWAY_CUDA_CHECK(cudaGetDeviceProperties(&found, device));
  return {found.name, found.major, found.minor, found.multiProcessorCount};
}

Devices look_up() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  (void)cudaGetLastError();
  if (status != cudaSuccess || count == 0) return {{}, why_none(status)};
  Devices found;
  try {
    for (int i = 0; i < std::min(count, kMaxDevices); ++i) found.all.push_back(properties_of(i));
  } catch (const std::exception& error) {
    return {{}, error.what()};
  }
  return found;
}

std::atomic<bool> forked{false};

}  // namespace

const Devices& devices() noexcept {
  static const Devices& here = *[] {
    pthread_atfork(nullptr, nullptr, [] { forked = true; });
    return new Devices(look_up());
  }();
  static const Devices& in_child =
      *new Devices{{}, "this process was forked from one that had looked for devices: CUDA cannot be used in both"};
  return forked ? in_child : here;
}

}  // namespace keyway::inline v1::cuda
