// CudaAllocator: what tensors of CUDA devices get their memory from. Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/caching_allocator.h>
#include <keyway/backends/cuda/driver/cuda_device_guard.h>
#include <keyway/backends/cuda/driver/devices.h>
#include <keyway/backends/cuda/driver/pinned_allocator.h>
#include <keyway/backends/cuda/driver/runtime_memory.h>
#include <keyway/core/tensor/device_allocator.h>

#include <array>
#include <atomic>
#include <mutex>
#include <optional>

namespace keyway::inline v1::cuda {

// Whether memory is kept for reuse. Not so with KEYWAY_NO_CUDA_MEMORY_CACHING=1 in the environment: it goes back each
// time, which takes long, so that tools that watch over memory (compute-sanitizer, AddressSanitizer for emulated
// devices) know where each tensor's ends.
bool is_caching();

// A cache for each device, made when memory of it is first asked for.
class CudaAllocator final : public DeviceAllocator {
 public:
  // Requires: `guard` outlives this.
  explicit CudaAllocator(CudaDeviceGuard& guard) : guard_(guard) {}

  // Memory of the current device, for its current stream.
  DataPtr allocate(std::size_t bytes) override;
  void copy_data(void* to, const void* from, std::size_t bytes) override;
  Allocator& pinned() override { return pinned_allocator(); }
  bool is_pinned(const void* memory) const override;
  CachingAllocator& of_device(int device) { return *cache_of(device).cache; }

  MemoryStats memory_stats(Device device) override { return of_device(device.index()).stats(); }
  void reset_peak_memory_stats(Device device) override { of_device(device.index()).reset_peaks(); }
  // Of the devices whose memory was asked for: others are not woken up.
  void empty_cache() override;
  void set_per_process_memory_fraction(double fraction, Device device) override {
    of_device(device.index()).set_fraction(fraction);
  }
  MemoryInfo get_memory_info(Device device) override { return cache_of(device.index()).memory->room(); }
  void record_stream(const void* data, Device device, Stream stream) override;

  // Gives a device back what nobody uses. False where that cannot be, as while a stream is captured.
  bool make_room(Device device) noexcept;

  // Memory of allocate() goes back through this.
  void free(int device, void* memory) noexcept;

 private:
  struct Cache {
    std::once_flag made;
    std::optional<RuntimeMemory> memory;
    std::optional<CachingAllocator> cache;
    std::atomic<bool> is_there = false;
  };

  Cache& cache_of(int device);

  CudaDeviceGuard& guard_;
  std::array<Cache, kMaxDevices> caches_;
};

// The one of the process. It is never destroyed: tensors may go after it would.
CudaAllocator& cuda_allocator();

}  // namespace keyway::inline v1::cuda
