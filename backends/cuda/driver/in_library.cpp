// What drivers call of the backend, for the kernels of a library out of tree: the drivers are compiled into the library
// together with this, which asks the backend through core's interface of devices. libkeyway_cuda.so has these functions
// in cuda_device_guard.cpp and device_asserts.cpp.
#include <keyway/backends/cuda/driver/device_assert_source.h>
#include <keyway/backends/cuda/driver/named_kernel.h>
#include <keyway/backends/cuda/driver/runtime_stream.h>
#include <keyway/core/base/error.h>
#include <keyway/core/device/device_guard_impl.h>

namespace keyway::inline v1::cuda {

cudaStream_t runtime_stream(Stream stream) { return static_cast<cudaStream_t>(stream.native_handle()); }

bool may_wait_for(Stream stream) { return !stream.is_capturing(); }

DeviceAssertTarget device_assert_target(const char* reason, Stream stream) {
  if (reason == nullptr) return {};
  auto* const source = dynamic_cast<DeviceAssertSource*>(&device_guard_impl(DeviceType::CUDA));
  KEYWAY_CHECK_AS(NotImplemented, source != nullptr,
                  "a kernel that refuses elements needs Keyway's own backend of CUDA");
  return source->assert_target(RunningOp::name(), reason, stream);
}

}  // namespace keyway::inline v1::cuda
