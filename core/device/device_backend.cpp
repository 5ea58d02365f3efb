#include <keyway/core/base/error.h>
#include <keyway/core/device/device_backend.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/core/device/host_allocator.h>
#include <keyway/core/device/synchronous_device_guard.h>

#include <cstring>
#include <utility>

namespace keyway::inline v1 {

namespace {

struct DefaultDeviceGuard final : SynchronousDeviceGuard {
  using SynchronousDeviceGuard::SynchronousDeviceGuard;
};

}  // namespace

DataPtr HostBackedAllocator::allocate(std::size_t bytes) {
  DataPtr data = host_allocator().allocate(bytes);
  data.set_device(current_device(type_));
  return data;
}

void HostBackedAllocator::copy_data(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
void HostBackedAllocator::copy_from_host(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}
void HostBackedAllocator::copy_to_host(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

struct DeviceBackendRegistration::Parts {
  DeviceBackend backend;
  DeviceGuardRegistration guard;
  ~Parts() { remove_allocator(backend.guard->type(), backend.allocator.get()); }
};

DeviceBackendRegistration::DeviceBackendRegistration() noexcept = default;
DeviceBackendRegistration::DeviceBackendRegistration(DeviceBackendRegistration&&) noexcept = default;
DeviceBackendRegistration& DeviceBackendRegistration::operator=(DeviceBackendRegistration&&) noexcept = default;
DeviceBackendRegistration::~DeviceBackendRegistration() = default;

void DeviceBackendRegistration::release() noexcept { (void)parts_.release(); }

DeviceBackendRegistration register_device_backend(DeviceType type, DeviceBackend backend, const char* file, int line) {
  KEYWAY_CHECK(backend.device_count >= 1 && backend.device_count <= 128,
               "device backend of {}: its device count is {}, but must be 1 to 128", type, backend.device_count);
  if (backend.guard == nullptr) {
    backend.guard = std::make_shared<DefaultDeviceGuard>(type, backend.device_count);
  }
  KEYWAY_CHECK(backend.guard->type() == type, "device backend of {}: its guard is of device type {}", type,
               backend.guard->type());
  if (backend.allocator == nullptr) backend.allocator = std::make_shared<HostBackedAllocator>(type);
  DeviceGuardRegistration guard = register_device_guard(*backend.guard, file, line);
  DeviceBackendRegistration handle;
  handle.parts_.reset(new DeviceBackendRegistration::Parts{std::move(backend), std::move(guard)});
  set_allocator(type, handle.parts_->backend.allocator.get());
  return handle;
}

}  // namespace keyway::inline v1
