// NamedKernel: a kernel function of this backend as it is registered, so that what it launches knows its operator.
// Internal to backends/cuda.
#pragma once

#include <keyway/core/schema/fixed_string.h>

#include <type_traits>

namespace keyway::inline v1::cuda {

// The operator whose kernel runs in this thread. As long as it lives.
class RunningOp {
 public:
  explicit RunningOp(const char* name) noexcept;
  // Waits until the device has done what was launched, where KEYWAY_CUDA_LAUNCH_BLOCKING=1 asks for that, so that a
  // failure is that of the operator that it names; not in a capture, where nothing is done. Throws keyway::Error.
  void launched() const;
  ~RunningOp();
  RunningOp(const RunningOp&) = delete;
  RunningOp& operator=(const RunningOp&) = delete;

  // "a kernel" outside of all.
  static const char* name() noexcept;

 private:
  const char* outer_;
};

// NamedKernel<"mm", mm>::call has mm's type.
template <FixedString name, auto* function>
struct NamedKernel;
template <FixedString name, typename R, typename... Args, R (*function)(Args...)>
struct NamedKernel<name, function> {
  static R call(Args... args) {
    const RunningOp running(name.chars);
    if constexpr (std::is_void_v<R>) {
      function(static_cast<Args>(args)...);
      running.launched();
    } else {
      R result = function(static_cast<Args>(args)...);
      running.launched();
      return result;
    }
  }
};

}  // namespace keyway::inline v1::cuda
