// register_device_backend: all that makes a device type usable, in one registration.
#pragma once

#include <keyway/core/device/allocator.h>
#include <keyway/core/device/device_guard_impl.h>

#include <memory>

namespace keyway::inline v1 {

// The parts of a backend. What is null has a default, so that a type without any part is one whose memory is the
// CPU's and whose work is done when it is queued.
struct DeviceBackend {
  // Devices, their streams, events and graphs. Default: as SynchronousDeviceGuard(type, device_count).
  std::shared_ptr<DeviceGuardImplInterface> guard = nullptr;
  // The bytes of storages, pinned memory, and, if it is a DeviceAllocator, statistics. Default: HostBackedAllocator.
  std::shared_ptr<Allocator> allocator = nullptr;
  // How many devices the default guard has.
  int device_count = 1;
};

// Gives memory of the CPU as that of the current device of a type.
class KEYWAY_API HostBackedAllocator : public Allocator {
 public:
  explicit HostBackedAllocator(DeviceType type) : type_(type) {}
  DataPtr allocate(std::size_t bytes) override;
  void copy_data(void* to, const void* from, std::size_t bytes) override;
  void copy_from_host(void* to, const void* from, std::size_t bytes) override;
  void copy_to_host(void* to, const void* from, std::size_t bytes) override;

 private:
  DeviceType type_;
};

// Undoes a registration when it goes, and lets go of the parts. Handed to Plugin::keep(), it goes with the plug-in,
// which is refused while memory, events or graphs of the devices live. In a program: let go of them before.
class KEYWAY_API DeviceBackendRegistration {
 public:
  DeviceBackendRegistration() noexcept;
  DeviceBackendRegistration(DeviceBackendRegistration&&) noexcept;
  DeviceBackendRegistration& operator=(DeviceBackendRegistration&&) noexcept;
  ~DeviceBackendRegistration();
  // Keeps the registration, and the parts, as long as the process runs.
  void release() noexcept;

 private:
  struct Parts;
  friend KEYWAY_API DeviceBackendRegistration register_device_backend(DeviceType type, DeviceBackend backend,
                                                                      const char* file, int line);
  std::unique_ptr<Parts> parts_;
};

// Makes the parts serve a type of register_device_type() until the handle goes. Throws keyway::Error: Registration as
// register_device_guard() does; Value if the guard is of another type, or the count is not in 1 to 128.
[[nodiscard]] KEYWAY_API DeviceBackendRegistration register_device_backend(DeviceType type, DeviceBackend backend = {},
                                                                           const char* file = __builtin_FILE(),
                                                                           int line = __builtin_LINE());

}  // namespace keyway::inline v1
