// CudaGraph: a captured graph behind the interface of core. Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/caching_allocator.h>
#include <keyway/backends/cuda/driver/capture.h>
#include <keyway/core/device/allocator.h>
#include <keyway/core/device/graph_impl.h>
#include <keyway/core/random/generator.h>

#include <cuda_runtime_api.h>
#include <optional>

namespace keyway::inline v1::cuda {

class CudaGraph final : public GraphImplInterface {
 public:
  ~CudaGraph() override;

  void capture_begin(MempoolId pool) override;
  void capture_end() override;
  void replay() override;
  MempoolId pool() const override { return pool_; }

 private:
  void check_can_capture(Stream stream) const;
  // Ends a capture, and gives what was captured, or null and why the runtime refuses.
  cudaError_t finish(cudaGraph_t& graph) noexcept;

  Capture capture_{Stream(Device(DeviceType::CUDA, 0)), {}};
  bool capturing_ = false;
  PoolId pool_ = 0;  // 0: none yet
  cudaGraphExec_t work_ = nullptr;
  DataPtr start_;                       // a PhiloxStart on the device
  std::optional<CapturedDraws> draws_;  // while capturing
  std::uint64_t calls_ = 0;             // of random operators
  cudaEvent_t replayed_ = nullptr;      // after the last replay that had any; null: there was none
};

}  // namespace keyway::inline v1::cuda
