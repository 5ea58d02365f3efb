#include <keyway/backends/cuda/driver/capture.h>
#include <keyway/backends/cuda/driver/runtime_memory.h>
#include <keyway/backends/cuda/driver/with_device.h>

namespace keyway::inline v1::cuda {

void* RuntimeMemory::allocate(std::size_t bytes) {
  const OutsideCapture outside;
  const WithDevice on(device_.index());
  void* memory = nullptr;
  return is_there(cudaMalloc(&memory, bytes), "cudaMalloc") ? memory : nullptr;
}

void RuntimeMemory::free(void* memory) noexcept {
  const OutsideCapture outside;
  const TryWithDevice on(device_.index());
  (void)cudaFree(memory);
}

MemoryInfo RuntimeMemory::room() const {
  const WithDevice on(device_.index());
  MemoryInfo room{};
  KEYWAY_CUDA_CHECK(cudaMemGetInfo(&room.free, &room.total));
  return room;
}

}  // namespace keyway::inline v1::cuda
