#include <keyway/core/device/stream_guard.h>

namespace keyway::inline v1 {

StreamGuard::StreamGuard(Stream stream) : StreamGuard(stream, device_guard_impl(stream.device_type())) {}

StreamGuard::StreamGuard(Stream stream, DeviceGuardImplInterface& impl)
    : impl_(&impl),
      original_(impl.get_stream(detail::checked_device(impl, stream.device_type()))),
      device_(stream.device()),
      replaced_(impl.exchange_stream(stream)),
      current_(stream) {}

StreamGuard::StreamGuard(StreamGuard&& other) noexcept
    : impl_(std::exchange(other.impl_, nullptr)),
      original_(other.original_),
      device_(std::move(other.device_)),
      replaced_(other.replaced_),
      current_(other.current_) {}

StreamGuard::~StreamGuard() { restore(); }

void StreamGuard::restore() noexcept {
  // Whose implementation was undone meanwhile has nothing to restore.
  if (impl_ != nullptr && find_device_guard_impl(current_.device_type()) == impl_) impl_->exchange_stream(replaced_);
}

void StreamGuard::reset_stream(Stream stream) {
  DeviceGuardImplInterface& impl = device_guard_impl(stream.device_type());
  detail::checked_device(impl, stream.device());
  const Stream before = impl.exchange_stream(stream);
  try {
    device_.reset_device(stream.device());
  } catch (...) {
    impl.exchange_stream(before);
    throw;
  }
  if (impl_ != &impl || stream.device() != current_.device()) {
    restore();
    replaced_ = before;
  }
  impl_ = &impl;
  current_ = stream;
}

}  // namespace keyway::inline v1
