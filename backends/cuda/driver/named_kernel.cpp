#include <keyway/backends/cuda/driver/capture.h>
#include <keyway/backends/cuda/driver/cuda_device_guard.h>
#include <keyway/backends/cuda/driver/named_kernel.h>

#include <cstdlib>
#include <string_view>

namespace keyway::inline v1::cuda {

namespace {

thread_local constinit const char* running_op = nullptr;

bool is_blocking() {
  static const bool blocking = [] {
    const char* const wanted = std::getenv("KEYWAY_CUDA_LAUNCH_BLOCKING");
    return wanted != nullptr && std::string_view(wanted) == "1";
  }();
  return blocking;
}

}  // namespace

RunningOp::RunningOp(const char* name) noexcept : outer_(running_op) { running_op = name; }

RunningOp::~RunningOp() { running_op = outer_; }

void RunningOp::launched() const {
  if (!is_blocking() || current_capture() != nullptr) [[likely]]
    return;
  const CudaDeviceGuard& guard = cuda_device_guard();
  guard.synchronize_stream(guard.get_stream(guard.get_device()));
}

const char* RunningOp::name() noexcept { return running_op == nullptr ? "a kernel" : running_op; }

}  // namespace keyway::inline v1::cuda
