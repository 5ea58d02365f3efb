#include <keyway/core/base/error.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/core/device/pending_calls.h>
#include <keyway/core/device/stream.h>

namespace keyway::inline v1 {

namespace {

DeviceGuardImplInterface& impl_of(const Stream& stream) {
  DeviceGuardImplInterface& impl = device_guard_impl(stream.device_type());
  detail::checked_device(impl, stream.device());
  return impl;
}

}  // namespace

void Stream::fail_device(Device device) {
  KEYWAY_FAIL(Value, "a stream is of one device, but {} names none: give it an index, or call current_stream()",
              device);
}

bool Stream::query() const {
  make_pending_calls("a stream is asked for its work");
  return impl_of(*this).query_stream(*this);
}

void Stream::synchronize() const {
  make_pending_calls("a stream is waited for");
  impl_of(*this).synchronize_stream(*this);
}

void* Stream::native_handle() const {
  make_pending_calls("a stream is used by its native handle");
  return impl_of(*this).native_handle(*this);
}

bool Stream::is_capturing() const { return impl_of(*this).is_capturing(*this); }

std::string to_string(const Stream& stream) {
  const std::string of = " of " + to_string(stream.device());
  return stream.is_default() ? "default stream" + of : "stream " + std::to_string(stream.id()) + of;
}

Stream current_stream(Device device) {
  DeviceGuardImplInterface& impl = device_guard_impl(device.type());
  return impl.get_stream(detail::checked_device(impl, device));
}

Stream default_stream(Device device) {
  DeviceGuardImplInterface& impl = device_guard_impl(device.type());
  return impl.get_default_stream(detail::checked_device(impl, device));
}

Stream new_stream(Device device, int priority) {
  DeviceGuardImplInterface& impl = device_guard_impl(device.type());
  return impl.get_new_stream(detail::checked_device(impl, device), priority);
}

}  // namespace keyway::inline v1
