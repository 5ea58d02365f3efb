#include <keyway/core/base/error.h>
#include <keyway/core/base/load_changes.h>
#include <keyway/core/device_guard.h>
#include <keyway/core/device_use.h>
#include <keyway/core/host_allocator.h>
#include <keyway/core/load_backend.h>
#include <keyway/core/storage.h>

#include <array>
#include <atomic>

namespace keyway::inline v1 {

Allocator::~Allocator() = default;

void Allocator::copy_data(void*, const void*, std::size_t) {
  KEYWAY_FAIL(
      NotImplemented,
      "a storage that grows keeps its bytes, but the device's allocator cannot copy them (Allocator::copy_data)");
}

Allocator& Allocator::pinned() {
  KEYWAY_FAIL(NotImplemented, "the device's allocator has no pinned memory of the CPU (Allocator::pinned)");
}

bool Allocator::is_pinned(const void*) const { return false; }

namespace {
constinit std::array<std::atomic<Allocator*>, kNumDeviceTypes> allocators{};

// Apart, so that host memory pays nothing for it. An allocator gives memory of its type's current device.
__attribute__((noinline)) Storage make_device_storage(std::size_t bytes, Device device) {
  if (device.is_meta()) return Storage(make_intrusive<StorageImpl>(DataPtr(nullptr, device), bytes, true));
  (void)get_allocator(device.type());  // throws if the backend is not there
  OptionalDeviceGuard guard;
  if (device.has_index()) guard.reset_device(device);
  DataPtr data = allocate_held(device.type(), Held::Memory, bytes);
  KEYWAY_CHECK_AS(Internal, device.has_index() ? data.device() == device : data.device().type() == device.type(),
                  "memory of {} was asked for, but its allocator gave memory of {}", device, data.device());
  return Storage(make_intrusive<StorageImpl>(std::move(data), bytes, true));
}
}  // namespace

Allocator* find_allocator(DeviceType type) {
  Allocator* const allocator = allocators[static_cast<std::size_t>(type)].load(std::memory_order_acquire);
  return allocator == nullptr && type == DeviceType::CPU ? &host_allocator() : allocator;
}

Allocator& get_allocator(DeviceType type) {
  Allocator* allocator = find_allocator(type);
  if (allocator == nullptr && load_device_guard_impl(type) != nullptr) allocator = find_allocator(type);
  if (allocator == nullptr) {
    const std::string why = load_backend(type);
    KEYWAY_FAIL(NotImplemented, "no allocator for device type {}: its backend is not loaded or has none{}{}", type,
                why.empty() ? "" : ": ", why);
  }
  return *allocator;
}

Allocator* set_allocator(DeviceType type, Allocator* allocator) {
  if (LoadChanges* const changes = LoadChanges::current()) changes->serves(static_cast<unsigned>(type));
  return set_noted(allocators[static_cast<std::size_t>(type)], allocator);
}

Storage make_storage(std::size_t bytes, Device device) {
  if (device.type() == DeviceType::CPU && bytes <= StorageImpl::kMaxInlineBytes &&
      allocators[0].load(std::memory_order_relaxed) == nullptr) [[likely]] {
    return Storage(StorageImpl::make_inline(bytes));
  }
  if (device.type() != DeviceType::CPU) [[unlikely]]
    return make_device_storage(bytes, device);
  if (allocators[0].load(std::memory_order_relaxed) != nullptr) [[unlikely]] {
    return Storage(make_intrusive<StorageImpl>(allocate_held(DeviceType::CPU, Held::Memory, bytes), bytes, true));
  }
  return Storage(make_intrusive<StorageImpl>(host_allocator().allocate(bytes), bytes, true));
}

}  // namespace keyway::inline v1
