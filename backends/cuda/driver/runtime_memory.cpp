#include <keyway/backends/cuda/driver/capture.h>
#include <keyway/backends/cuda/driver/runtime_memory.h>
#include <keyway/backends/cuda/driver/with_device.h>

namespace keyway::inline v1::cuda {

void* RuntimeMemory::allocate(std::size_t bytes) {
  const OutsideCapture outside;
  const WithDevice on(device_.index());
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, bytes);
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return nullptr;
  }
  check(status, "cudaMalloc", __FILE__, __LINE__);
  return memory;
}

void RuntimeMemory::free(void* memory) noexcept {
  const OutsideCapture outside;
  const TryWithDevice on(device_.index());
  (void)cudaFree(memory);
}

DeviceMemory::Room RuntimeMemory::room() const noexcept {
  const TryWithDevice on(device_.index());
  Room room{};
  (void)cudaMemGetInfo(&room.free, &room.total);
  return room;
}

void* RuntimeMemory::record(StreamId stream) {
  const OutsideCapture outside;
  void* const event = guard_.create_event(device_, false);
  try {
    guard_.record(event, Stream(device_, stream));
  } catch (...) {
    destroy(event);
    throw;
  }
  return event;
}

bool RuntimeMemory::is_done(void* event) {
  const OutsideCapture outside;
  return guard_.query_event(event);
}

void RuntimeMemory::wait(void* event) {
  const OutsideCapture outside;
  guard_.synchronize_event(event);
}

}  // namespace keyway::inline v1::cuda
