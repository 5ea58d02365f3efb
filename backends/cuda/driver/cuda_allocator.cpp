#include <keyway/backends/cuda/driver/check.h>
#include <keyway/backends/cuda/driver/cuda_allocator.h>
#include <keyway/core/base/error.h>
#include <keyway/core/device/device_guard.h>

#include <cstdlib>
#include <string_view>
#include <utility>

namespace keyway::inline v1::cuda {

namespace {

// A deleter gets nothing but the pointer: there is one for each device.
template <int device>
void free_on(void* pointer) {
  cuda_allocator().free(device, pointer);
}

constexpr auto kDeleters = []<int... I>(std::integer_sequence<int, I...>) {
  return std::array<DeleterFn, kMaxDevices>{free_on<I>...};
}
(std::make_integer_sequence<int, kMaxDevices>());

void* allocate_uncached(RuntimeMemory& memory, std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* const data = memory.allocate(bytes);
  KEYWAY_CHECK_AS(OutOfMemory, data != nullptr, "{} has no room for {} bytes, and nothing is cached", memory.device(),
                  bytes);
  return data;
}

}  // namespace

bool is_caching() {
  static const bool caching = [] {
    const char* const unwanted = std::getenv("KEYWAY_NO_CUDA_MEMORY_CACHING");
    return unwanted == nullptr || std::string_view(unwanted) != "1";
  }();
  return caching;
}

CudaAllocator& cuda_allocator() {
  static CudaAllocator& allocator = *new CudaAllocator(cuda_device_guard());
  return allocator;
}

CudaAllocator::Cache& CudaAllocator::cache_of(int device) {
  Cache& here = caches_[static_cast<std::size_t>(device)];
  std::call_once(here.made, [&] {
    here.memory.emplace(Device(DeviceType::CUDA, static_cast<std::int8_t>(device)));
    here.cache.emplace(*here.memory);
    here.is_there.store(true, std::memory_order_release);
  });
  return here;
}

DataPtr CudaAllocator::allocate(std::size_t bytes) {
  const Device device = current_device(DeviceType::CUDA);
  Cache& here = cache_of(device.index());
  void* const data = is_caching() ? here.cache->allocate(bytes, guard_.get_stream(device).id())
                                  : allocate_uncached(*here.memory, bytes);
  return {data, data, data == nullptr ? nullptr : kDeleters[static_cast<std::size_t>(device.index())], device};
}

void CudaAllocator::free(int device, void* memory) noexcept {
  Cache& here = cache_of(device);
  if (is_caching()) {
    here.cache->free(memory);
  } else {
    here.memory->free(memory);
  }
}

void CudaAllocator::empty_cache() {
  for (Cache& each : caches_) {
    if (each.is_there.load(std::memory_order_acquire)) each.cache->empty_cache();
  }
}

bool CudaAllocator::make_room(Device device) noexcept {
  try {
    of_device(device.index()).empty_cache();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

void CudaAllocator::record_stream(const void* data, Device device, Stream stream) {
  // What is not kept goes back when the device is done with it all.
  if (is_caching()) of_device(device.index()).record_stream(data, stream);
}

bool CudaAllocator::is_pinned(const void* memory) const {
  if (devices().all.empty()) return false;
  cudaPointerAttributes found{};
  KEYWAY_CUDA_CHECK(cudaPointerGetAttributes(&found, memory));
  return found.type == cudaMemoryTypeHost;
}

void CudaAllocator::copy_data(void* to, const void* from, std::size_t bytes) {
  const cudaStream_t stream = runtime_stream(guard_.get_stream(current_device(DeviceType::CUDA)));
  KEYWAY_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream));
}

}  // namespace keyway::inline v1::cuda
