// PinnedAllocator: memory of the CPU that all CUDA devices copy from and to by themselves. Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/caching_host_allocator.h>
#include <keyway/backends/cuda/driver/events.h>
#include <keyway/backends/cuda/host_memory.h>
#include <keyway/core/device/allocator.h>

namespace keyway::inline v1::cuda {

class RuntimeHostMemory final : public RuntimeEvents<HostMemory> {
 public:
  void* allocate(std::size_t bytes) override;
  void free(void* memory) noexcept override;
};

// A cache for all devices. Where CudaAllocator keeps nothing, neither does this.
class PinnedAllocator final : public Allocator {
 public:
  DataPtr allocate(std::size_t bytes) override;
  // Work that `stream` gets before the memory is freed uses what has this address.
  void record_stream(const void* address, Stream stream) { cache_.record_stream(address, stream); }
  // Memory of allocate() goes back through this.
  void free(void* memory) noexcept;

 private:
  RuntimeHostMemory memory_;
  CachingHostAllocator cache_{memory_};
};

// The one of the process. It is never destroyed: tensors may go after it would be.
PinnedAllocator& pinned_allocator();

}  // namespace keyway::inline v1::cuda
