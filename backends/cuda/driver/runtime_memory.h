// RuntimeMemory: a device's memory and events, as the caching allocator asks for them. Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/device_memory.h>
#include <keyway/backends/cuda/driver/events.h>

namespace keyway::inline v1::cuda {

class RuntimeMemory final : public RuntimeEvents<DeviceMemory> {
 public:
  explicit RuntimeMemory(Device device) : device_(device) {}

  Device device() const noexcept override { return device_; }
  void* allocate(std::size_t bytes) override;
  void free(void* memory) noexcept override;
  MemoryInfo room() const override;

 private:
  Device device_;
};

}  // namespace keyway::inline v1::cuda
