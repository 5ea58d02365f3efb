#include <keyway/core/base/error.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/core/device/pending_calls.h>

#include <string>

namespace keyway::inline v1 {

Device detail::checked_device(DeviceGuardImplInterface& impl, Device device) {
  const int count = impl.device_count();
  if (count == 0) {
    const std::string why = impl.why_no_device();
    KEYWAY_FAIL(Index, "there is no {} device{}{}", device.type(), why.empty() ? "" : ": ", why);
  }
  const int index = device.has_index() ? device.index() : 0;
  KEYWAY_CHECK_AS(Index, index < count, "device {} is out of range: the number of {} devices is {}", device,
                  device.type(), count);
  return device.has_index() ? device : impl.get_device();
}

int device_count(DeviceType type) {
  const DeviceGuardImplInterface* impl = load_device_guard_impl(type);
  return impl == nullptr ? 0 : impl->device_count();
}

Device current_device(DeviceType type) { return detail::checked_device(device_guard_impl(type), type); }

void set_device(Device device) {
  DeviceGuardImplInterface& impl = device_guard_impl(device.type());
  impl.set_device(detail::checked_device(impl, device));
}

void synchronize(Device device) {
  DeviceGuardImplInterface& impl = device_guard_impl(device.type());
  make_pending_calls("a device is waited for");
  impl.synchronize_device(detail::checked_device(impl, device));
}

void DeviceGuard::enter(Device device) {
  DeviceGuardImplInterface& impl = device_guard_impl(device.type());
  current_ = detail::checked_device(impl, device);
  original_ = impl.exchange_device(current_);
  impl_ = &impl;
}

void DeviceGuard::leave() noexcept {
  // Whose implementation was undone meanwhile has nothing to restore.
  if (find_device_guard_impl(original_.type()) == impl_) impl_->unchecked_set_device(original_);
}

void DeviceGuard::reset_device(Device device) {
  if (device.type() == current_.type() && impl_ != nullptr) {
    DeviceGuardImplInterface& impl = device_guard_impl(device.type());
    const Device next = detail::checked_device(impl, device);
    impl.set_device(next);
    current_ = next;
    return;
  }
  DeviceGuard other(device);
  std::swap(impl_, other.impl_);
  std::swap(original_, other.original_);
  std::swap(current_, other.current_);
}

}  // namespace keyway::inline v1
