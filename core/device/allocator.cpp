#include <keyway/core/base/error.h>
#include <keyway/core/device/allocators.h>
#include <keyway/core/device/block_cache.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/core/device/held.h>
#include <keyway/core/device/host_allocator.h>
#include <keyway/core/device/load_backend.h>

#include <new>
#include <utility>

namespace keyway::inline v1 {

Allocator::~Allocator() = default;

void Allocator::copy_data(void*, const void*, std::size_t) {
  KEYWAY_FAIL(
      NotImplemented,
      "a storage that grows keeps its bytes, but the device's allocator cannot copy them (Allocator::copy_data)");
}

void Allocator::copy_from_host(void*, const void*, std::size_t) {
  KEYWAY_FAIL(NotImplemented, "the device's allocator copies no bytes from the CPU (Allocator::copy_from_host)");
}

void Allocator::copy_to_host(void*, const void*, std::size_t) {
  KEYWAY_FAIL(NotImplemented, "the device's allocator copies no bytes to the CPU (Allocator::copy_to_host)");
}

Allocator& Allocator::pinned() {
  KEYWAY_FAIL(NotImplemented, "the device's allocator has no pinned memory of the CPU (Allocator::pinned)");
}

bool Allocator::is_pinned(const void*) const { return false; }

constinit std::array<Setting<Allocator*>, kNumDeviceTypes> detail::allocators{};

namespace {

Setting<Allocator*>& setting_of(DeviceType type) { return detail::allocators[static_cast<std::size_t>(type)]; }

// What the memory of a tensor hangs on instead of the allocator's own context. The hold goes after the memory.
struct HeldMemory {
  LibraryResource hold;
  DataPtr data;
};

void free_held(void* context) {
  auto* const held = static_cast<HeldMemory*>(context);
  const LibraryResource until_the_end = std::move(held->hold);
  held->~HeldMemory();
  free_block(held, sizeof(HeldMemory));
}

DataPtr with_hold(DataPtr data, LibraryResource hold) {
  if (data.deleter() == nullptr) return data;  // nobody's code frees it
  void* const memory = data.get();
  const Device device = data.device();
  void* const block = allocate_block(sizeof(HeldMemory));
  return DataPtr(memory, new (block) HeldMemory{std::move(hold), std::move(data)}, free_held, device);
}

DataPtr allocate_on(Device device, Allocator& allocator, ResourceKind what, std::size_t bytes) {
  if (what == ResourceKind::Pinned) return allocator.pinned().allocate(bytes);
  OptionalDeviceGuard guard;
  if (device.has_index() && !device.is_cpu()) guard.reset_device(device);
  return allocator.allocate(bytes);
}

}  // namespace

Allocator* find_allocator(DeviceType type) {
  Allocator* const allocator = setting_of(type).get();
  return allocator == nullptr && type == DeviceType::CPU ? &host_allocator() : allocator;
}

Allocator& get_allocator(DeviceType type) {
  Allocator* allocator = find_allocator(type);
  if (allocator != nullptr) return *allocator;
  // Where another thread loads the backend, its guard may be there already, and its allocator once it is loaded.
  (void)load_device_guard_impl(type);
  const std::string why = load_backend(type);
  allocator = find_allocator(type);
  KEYWAY_CHECK_AS(NotImplemented, allocator != nullptr,
                  "no allocator for device type {}: its backend is not loaded or has none{}{}", type,
                  why.empty() ? "" : ": ", why);
  return *allocator;
}

Allocator* set_allocator(DeviceType type, Allocator* allocator) { return setting_of(type).set(allocator); }

void remove_allocator(DeviceType type, Allocator* allocator) { setting_of(type).remove(allocator); }

DataPtr allocate_held(Device device, ResourceKind what, std::size_t bytes) {
  const DeviceType type = device.type();
  for (;;) {
    const auto* const entry = setting_of(type).entry();
    if (entry == nullptr) {
      if (type == DeviceType::CPU) return allocate_on(device, host_allocator(), what, bytes);
      (void)get_allocator(type);  // loads the backend, or throws
      continue;
    }
    Allocator& allocator = *Setting<Allocator*>::value_of(entry);
    LibraryResources* const library = entry->library;
    if (library == nullptr || library->stays() || library == LibraryUndoLog::loading()) {
      return allocate_on(device, allocator, what, bytes);
    }
    if (!library->acquire(what, bytes)) {
      // The CPU has memory whoever goes.
      if (type == DeviceType::CPU) return host_allocator().allocate(bytes);
      KEYWAY_FAIL(NotImplemented, "the backend of device type {} is being unloaded", type);
    }
    LibraryResource hold(*library, what, bytes);
    if (setting_of(type).entry() != entry) continue;  // it went before it was held
    return with_hold(allocate_on(device, allocator, what, bytes), std::move(hold));
  }
}

}  // namespace keyway::inline v1
