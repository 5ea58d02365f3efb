// DeviceRanges: calls of operators as ranges in what tools show that watch the work of a type of devices; for CUDA
// these are NVTX's, which Nsight Systems shows above the kernels. KEYWAY_CUDA_NVTX=1 has it hear all threads of a
// process.
//
//   const ThreadListenerGuard listening(std::make_shared<DeviceRanges>(kCUDA));
#pragma once

#include <keyway/core/device/device.h>
#include <keyway/dispatch/inspect/profiler.h>

namespace keyway::inline v1 {

class KEYWAY_API DeviceRanges : public CallListener {
 public:
  // Where nobody serves the type, or its tools know no ranges, calls are heard and nothing is done.
  explicit DeviceRanges(DeviceType type) : type_(type) {}
  void begin(const CallEvent& call) override;
  void end(const CallEvent& call, bool threw) noexcept override;

 private:
  DeviceType type_;
};

}  // namespace keyway::inline v1
