#include <keyway/core/base/error.h>
#include <keyway/core/host_allocator.h>
#include <keyway/core/storage.h>

#include <array>
#include <atomic>

namespace keyway::inline v1 {

Allocator::~Allocator() = default;

namespace {
constinit std::array<std::atomic<Allocator*>, kNumDeviceTypes> allocators{};
}

Allocator& get_allocator(DeviceType type) {
  Allocator* allocator = allocators[static_cast<std::size_t>(type)].load(std::memory_order_acquire);
  if (allocator == nullptr && type == DeviceType::CPU) return host_allocator();
  KEYWAY_CHECK_AS(NotImplemented, allocator != nullptr,
                  "no allocator for device type {}: its backend is not loaded or has none", type);
  return *allocator;
}

Allocator* set_allocator(DeviceType type, Allocator* allocator) {
  return allocators[static_cast<std::size_t>(type)].exchange(allocator, std::memory_order_acq_rel);
}

Storage make_storage(std::size_t bytes, Device device) {
  if (device.type() == DeviceType::CPU && bytes <= StorageImpl::kMaxInlineBytes &&
      allocators[0].load(std::memory_order_relaxed) == nullptr) [[likely]] {
    return Storage(StorageImpl::make_inline(bytes));
  }
  if (device.type() == DeviceType::Meta) {
    return Storage(make_intrusive<StorageImpl>(DataPtr(nullptr, device), bytes, true));
  }
  Allocator& allocator = get_allocator(device.type());
  return Storage(make_intrusive<StorageImpl>(allocator.allocate(bytes), bytes, true));
}

}  // namespace keyway::inline v1
