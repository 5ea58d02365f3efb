#include <keyway/backends/cuda/driver/allocator.h>
#include <keyway/backends/cuda/driver/check.h>
#include <keyway/backends/cuda/driver/device_guard.h>
#include <keyway/core/device_guard.h>

#include <utility>

namespace keyway::inline v1::cuda {

namespace {

// A deleter gets nothing but the pointer: there is one for each device.
template <int device>
void free_on(void* pointer) {
  cuda_allocator().of_device(device).free(pointer);
}

constexpr auto kDeleters = []<int... I>(std::integer_sequence<int, I...>) {
  return std::array<DeleterFn, kMaxDevices>{free_on<I>...};
}
(std::make_integer_sequence<int, kMaxDevices>());

}  // namespace

CudaAllocator& cuda_allocator() {
  static CudaAllocator& allocator = *new CudaAllocator(cuda_device_guard());
  return allocator;
}

CachingAllocator& CudaAllocator::of_device(int device) {
  Cache& here = caches_[static_cast<std::size_t>(device)];
  std::call_once(here.made, [&] {
    here.memory.emplace(guard_, Device(DeviceType::CUDA, static_cast<std::int8_t>(device)));
    here.cache.emplace(*here.memory);
  });
  return *here.cache;
}

DataPtr CudaAllocator::allocate(std::size_t bytes) {
  const Device device = current_device(DeviceType::CUDA);
  void* const data = of_device(device.index()).allocate(bytes, guard_.get_stream(device).id());
  return {data, data, data == nullptr ? nullptr : kDeleters[static_cast<std::size_t>(device.index())], device};
}

void CudaAllocator::copy_data(void* to, const void* from, std::size_t bytes) {
  const cudaStream_t stream = runtime_stream(guard_.get_stream(current_device(DeviceType::CUDA)));
  KEYWAY_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream));
}

}  // namespace keyway::inline v1::cuda
