// DeviceMemory: what the caching allocator needs of one device, besides events of its streams. The driver implements
// it, and so does a test without one.
#pragma once

#include <keyway/backends/cuda/stream_events.h>
#include <keyway/core/device/memory_stats.h>

#include <cstddef>

namespace keyway::inline v1::cuda {

class DeviceMemory : public StreamEvents {
 public:
  virtual Device device() const noexcept = 0;
  // Null: the device has no room. Throws keyway::Error where the device fails.
  virtual void* allocate(std::size_t bytes) = 0;
  // Waits for all work of the device before.
  virtual void free(void* memory) noexcept = 0;
  // Throws keyway::Error where the device fails.
  virtual MemoryInfo room() const = 0;

 protected:
  ~DeviceMemory() = default;
};

}  // namespace keyway::inline v1::cuda
