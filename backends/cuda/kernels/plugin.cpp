// libkeyway_cuda.so: what libkeyway opens when a CUDA device is first asked for (dispatch/plugin/backend_library.cpp).
#include <keyway/backends/cuda/driver/cuda_allocator.h>
#include <keyway/backends/cuda/driver/cuda_device_guard.h>
#include <keyway/backends/cuda/kernels/serve.h>
#include <keyway/dispatch/inspect/device_ranges.h>
#include <keyway/dispatch/plugin/plugin.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace keyway::inline v1::cuda {

KEYWAY_PLUGIN(cuda, plugin) {
  plugin.keep(register_device_guard(cuda_device_guard()));
  set_allocator(DeviceType::CUDA, &cuda_allocator());
  register_kernels(plugin.impl("keyway", DispatchKey::CUDA));
  const char* const ranges = std::getenv("KEYWAY_CUDA_NVTX");
  if (ranges != nullptr && std::string_view(ranges) == "1") {
    plugin.keep(listen_to_all_threads(std::make_shared<DeviceRanges>(DeviceType::CUDA)));
  }
  plugin.keep(std::shared_ptr<void>(&cuda_allocator(), [](void*) { set_allocator(DeviceType::CUDA, nullptr); }));
}

}  // namespace keyway::inline v1::cuda
