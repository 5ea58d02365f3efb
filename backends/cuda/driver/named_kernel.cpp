#include <keyway/backends/cuda/driver/named_kernel.h>
#include <keyway/backends/cuda/driver/runtime_stream.h>
#include <keyway/core/device/device_guard.h>

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
  if (!is_blocking()) [[likely]]
    return;
  const Stream stream = current_stream(current_device(DeviceType::CUDA));
  if (may_wait_for(stream)) stream.synchronize();
}

const char* RunningOp::name() noexcept { return running_op == nullptr ? "a kernel" : running_op; }

}  // namespace keyway::inline v1::cuda
