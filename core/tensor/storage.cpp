#include <keyway/core/base/error.h>
#include <keyway/core/device/allocators.h>
#include <keyway/core/device/held.h>
#include <keyway/core/device/host_allocator.h>
#include <keyway/core/tensor/storage.h>
#include <keyway/core/tensor/storage_listener.h>

namespace keyway::inline v1 {

namespace {

const Setting<Allocator*>& cpu_allocator = detail::allocators[static_cast<std::size_t>(DeviceType::CPU)];

// Apart, so that host memory pays nothing for it. An allocator gives memory of its type's current device.
__attribute__((noinline)) Storage make_device_storage(std::size_t bytes, Device device) {
  if (device.is_meta()) return Storage(make_intrusive<StorageImpl>(DataPtr(nullptr, device), bytes, true));
  DataPtr data = allocate_held(device, ResourceKind::Memory, bytes);
  KEYWAY_CHECK_AS(Internal, device.has_index() ? data.device() == device : data.device().type() == device.type(),
                  "memory of {} was asked for, but its allocator gave memory of {}", device, data.device());
  return Storage(make_intrusive<StorageImpl>(std::move(data), bytes, true));
}

Storage make_unnoted(std::size_t bytes, Device device) {
  if (device.type() == DeviceType::CPU && bytes <= StorageImpl::kMaxInlineBytes && cpu_allocator.entry() == nullptr)
      [[likely]] {
    return Storage(StorageImpl::make_inline(bytes));
  }
  if (device.type() != DeviceType::CPU) [[unlikely]]
    return make_device_storage(bytes, device);
  if (cpu_allocator.entry() != nullptr) [[unlikely]] {
    return Storage(
        make_intrusive<StorageImpl>(allocate_held(Device(DeviceType::CPU), ResourceKind::Memory, bytes), bytes, true));
  }
  return Storage(make_intrusive<StorageImpl>(host_allocator().allocate(bytes), bytes, true));
}

}  // namespace

constinit std::atomic<const StorageListener*> storage_listener{nullptr};

Storage make_storage(std::size_t bytes, Device device) {
  Storage storage = make_unnoted(bytes, device);
  note_made(storage);
  return storage;
}

}  // namespace keyway::inline v1
