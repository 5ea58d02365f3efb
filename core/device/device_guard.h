// DeviceGuard: makes a device current as long as it lives.
#pragma once

#include <keyway/core/device/device_guard_impl.h>

#include <cstdint>
#include <optional>
#include <utility>

namespace keyway::inline v1 {

// How many devices of a type there are; 0 if no backend serves it.
KEYWAY_API int device_count(DeviceType type);
// The thread's current device of a type. Throws keyway::Error if no backend serves it, or there is no device.
KEYWAY_API Device current_device(DeviceType type);
// Makes a device current for good. Errors: as DeviceGuard.
KEYWAY_API void set_device(Device device);
// Waits for all work on a device. Errors: as DeviceGuard.
KEYWAY_API void synchronize(Device device);
inline void synchronize(const Stream& stream) { stream.synchronize(); }

// When it goes, the device that was current before is current again, whatever was made current meanwhile. A moved
// one restores nothing. For the CPU it is a compare. Guards of one type go in the reverse order of their making.
class DeviceGuard {
 public:
  // A device without an index stands for the current one. Throws keyway::Error: no backend serves its type; an index
  // that is out of range.
  explicit DeviceGuard(Device device) : original_(device), current_(device) {
    if (!device.is_cpu() || device.index() > 0) [[unlikely]]
      enter(device);
  }
  DeviceGuard(DeviceGuard&& other) noexcept
      : impl_(std::exchange(other.impl_, nullptr)), original_(other.original_), current_(other.current_) {}
  DeviceGuard& operator=(DeviceGuard&&) = delete;
  ~DeviceGuard() {
    if (impl_ != nullptr) [[unlikely]]
      leave();
  }

  // Makes another device current instead. If that throws, the guard is as it was. One of another type restores the
  // first type's device at once.
  KEYWAY_API void reset_device(Device device);
  // Another device of the same type.
  void set_index(std::int8_t index) { reset_device(Device(current_.type(), index)); }

  // The one that will be current again, and the one that the guard made current.
  Device original_device() const { return original_; }
  Device current_device() const { return current_; }

 private:
  KEYWAY_API void enter(Device device);
  KEYWAY_API void leave() noexcept;

  DeviceGuardImplInterface* impl_ = nullptr;  // null: there is nothing to restore
  Device original_;
  Device current_;
};

// A DeviceGuard, or none.
class OptionalDeviceGuard {
 public:
  OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(std::optional<Device> device) {
    if (device) guard_.emplace(*device);
  }
  OptionalDeviceGuard(OptionalDeviceGuard&& other) noexcept : guard_(std::move(other.guard_)) { other.guard_.reset(); }
  OptionalDeviceGuard& operator=(OptionalDeviceGuard&&) = delete;

  // As DeviceGuard's; makes a guard if there is none.
  void reset_device(Device device) {
    if (guard_) {
      guard_->reset_device(device);
    } else {
      guard_.emplace(device);
    }
  }
  // Restores now, and is none.
  void reset() { guard_.reset(); }

  std::optional<Device> original_device() const {
    return guard_ ? std::optional(guard_->original_device()) : std::nullopt;
  }
  std::optional<Device> current_device() const {
    return guard_ ? std::optional(guard_->current_device()) : std::nullopt;
  }

 private:
  std::optional<DeviceGuard> guard_;
};

namespace detail {
// The device itself, or the current one of its type where it has no index; checked against the number of devices.
KEYWAY_API Device checked_device(DeviceGuardImplInterface& impl, Device device);
}  // namespace detail

}  // namespace keyway::inline v1
