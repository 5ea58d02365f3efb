// RuntimeMemory: a device's memory and events, as the caching allocator asks for them. Internal to
// backends/cuda.
#pragma once

#include <keyway/backends/cuda/device_memory.h>
#include <keyway/backends/cuda/driver/device_guard.h>

namespace keyway::inline v1::cuda {

class RuntimeMemory final : public DeviceMemory {
 public:
  // Requires: `guard` outlives this.
  RuntimeMemory(CudaDeviceGuard& guard, Device device) : guard_(guard), device_(device) {}

  Device device() const noexcept override { return device_; }
  void* allocate(std::size_t bytes) override;
  void free(void* memory) noexcept override;
  Room room() const noexcept override;
  void* record(StreamId stream) override;
  bool is_done(void* event) override;
  void wait(void* event) override;
  void destroy(void* event) noexcept override { guard_.destroy_event(event, device_); }

 private:
  CudaDeviceGuard& guard_;
  Device device_;
};

}  // namespace keyway::inline v1::cuda
