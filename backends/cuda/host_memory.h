// HostMemory: what the caching allocator of pinned memory needs of the machine. The driver implements it, and so does a
// test without one.
#pragma once

#include <keyway/backends/cuda/stream_events.h>

#include <cstddef>

namespace keyway::inline v1::cuda {

class HostMemory : public StreamEvents {
 public:
  // Null: the machine has no room. Throws keyway::Error where it fails otherwise.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void free(void* memory) noexcept = 0;

 protected:
  ~HostMemory() = default;
};

}  // namespace keyway::inline v1::cuda
