#include <keyway/backends/cuda/driver/capture.h>
#include <keyway/backends/cuda/driver/check.h>
#include <keyway/backends/cuda/driver/cuda_allocator.h>
#include <keyway/backends/cuda/driver/pinned_allocator.h>

namespace keyway::inline v1::cuda {

void* RuntimeHostMemory::allocate(std::size_t bytes) {
  const OutsideCapture outside;
  void* memory = nullptr;
  return is_there(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable), "cudaHostAlloc") ? memory : nullptr;
}

void RuntimeHostMemory::free(void* memory) noexcept {
  const OutsideCapture outside;
  (void)cudaFreeHost(memory);
}

PinnedAllocator& pinned_allocator() {
  static PinnedAllocator& allocator = *new PinnedAllocator;
  return allocator;
}

DataPtr PinnedAllocator::allocate(std::size_t bytes) {
  void* const data = cache_.allocate(bytes);
  const DeleterFn deleter = [](void* memory) { pinned_allocator().free(memory); };
  return {data, data, data == nullptr ? nullptr : deleter, Device(DeviceType::CPU)};
}

void PinnedAllocator::free(void* memory) noexcept {
  cache_.free(memory);
  if (is_caching()) return;
  try {
    cache_.empty_cache();
  } catch (const std::exception&) {
    // A device that fails says so in the next allocate().
  }
}

}  // namespace keyway::inline v1::cuda
