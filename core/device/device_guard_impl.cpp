#include <keyway/core/base/error.h>
#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/base/library_undo_log.h>
#include <keyway/core/device/held.h>
#include <keyway/core/device/load_backend.h>
#include <keyway/core/device/synchronous_device_guard.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace keyway::inline v1 {
namespace {

constinit std::array<std::atomic<DeviceGuardImplInterface*>, kNumDeviceTypes> impls{&cpu_device_guard, nullptr,
                                                                                    &meta_device_guard};
// The libraries that registered those in `impls`, null for the program; each is stored before its guard.
constinit std::array<std::atomic<LibraryResources*>, kNumDeviceTypes> libraries{};

// Where those in `impls` were registered.
struct Sites {
  ForkSafeMutex writers{LockOrder::Devices};
  std::string text[kNumDeviceTypes];
};
Sites& sites() {
  // Never destroyed: handles may go while the program exits.
  static Sites* const all = new Sites;
  return *all;
}

}  // namespace

void* DeviceGuardImplInterface::native_handle(Stream stream) const {
  KEYWAY_FAIL(NotImplemented, "the {} has no native handle: the backend of {} has none to give", to_string(stream),
              type());
}

DeviceGuardImplInterface* find_device_guard_impl(DeviceType type) {
  const auto i = static_cast<std::size_t>(type);
  return i < impls.size() ? impls[i].load(std::memory_order_acquire) : nullptr;
}

DeviceGuardImplInterface* load_device_guard_impl(DeviceType type) {
  DeviceGuardImplInterface* const impl = find_device_guard_impl(type);
  if (impl != nullptr) return impl;
  load_backend(type);
  return find_device_guard_impl(type);
}

DeviceGuardImplInterface& device_guard_impl(DeviceType type) {
  DeviceGuardImplInterface* impl = load_device_guard_impl(type);
  if (impl == nullptr) {
    const std::string why = load_backend(type);
    KEYWAY_FAIL(NotImplemented,
                "no device guard for device type {}: its backend is not loaded, or has not called "
                "register_device_guard(){}{}",
                type, why.empty() ? "" : ": ", why);
  }
  return *impl;
}

HeldGuard hold_device_guard(DeviceType type, ResourceKind what) {
  const auto i = static_cast<std::size_t>(type);
  for (;;) {
    DeviceGuardImplInterface& impl = device_guard_impl(type);
    LibraryResources* const library = libraries[i].load(std::memory_order_acquire);
    LibraryResource hold;
    if (library != nullptr && !library->stays() && library != LibraryUndoLog::loading()) {
      KEYWAY_CHECK_AS(NotImplemented, library->acquire(what, 0), "the backend of device type {} is being unloaded",
                      type);
      hold = LibraryResource(*library, what, 0);
    }
    // It may have gone before it was held, or another's may have come in its place.
    if (find_device_guard_impl(type) == &impl && libraries[i].load() == library) return {impl, std::move(hold)};
  }
}

std::vector<DeviceType> device_types_served_by(const LibraryResources& library) {
  std::vector<DeviceType> types;
  const std::lock_guard lock(sites().writers);
  for (std::size_t i = 0; i < impls.size(); ++i) {
    if (impls[i].load() != nullptr && libraries[i].load() == &library) types.push_back(static_cast<DeviceType>(i));
  }
  return types;
}

DeviceGuardRegistration register_device_guard(DeviceGuardImplInterface& impl, const char* file, int line) {
  const DeviceType type = impl.type();
  std::string site = std::string(file) + ":" + std::to_string(line);
  KEYWAY_CHECK_AS(Registration, to_string(type) != "unknown",
                  "device guard at {}: there is no device type {}; register_device_type() makes one", site,
                  static_cast<int>(type));
  const auto i = static_cast<std::size_t>(type);
  const std::lock_guard lock(sites().writers);
  std::string& text = sites().text[i];
  KEYWAY_CHECK_AS(Registration, find_device_guard_impl(type) == nullptr,
                  "device guard at {}: device type {} has one already, {}{}", site, type,
                  text.empty() ? "which is built in" : "registered at ", text);
  libraries[i].store(LibraryUndoLog::loading(), std::memory_order_release);
  text = std::move(site);
  impls[i].store(&impl, std::memory_order_release);
  return DeviceGuardRegistration(&impl);
}

void DeviceGuardRegistration::undo() noexcept {
  if (impl_ == nullptr) return;
  const std::lock_guard lock(sites().writers);
  impls[static_cast<std::size_t>(impl_->type())].store(nullptr, std::memory_order_release);
  impl_ = nullptr;
}

}  // namespace keyway::inline v1
