// StreamGuard: makes a stream current, and its device, as long as it lives.
#pragma once

#include <keyway/core/device/device_guard.h>

namespace keyway::inline v1 {

// When it goes, the stream that was current on the stream's device is current again there, and the device that was
// current before. A moved one restores nothing. Guards go in the reverse order of their making.
class StreamGuard {
 public:
  // Throws keyway::Error as DeviceGuard does, and if the backend does not know the stream; then nothing has changed.
  KEYWAY_API explicit StreamGuard(Stream stream);
  KEYWAY_API StreamGuard(StreamGuard&& other) noexcept;
  StreamGuard& operator=(StreamGuard&&) = delete;
  KEYWAY_API ~StreamGuard();

  // Makes another stream current instead. If that throws, the guard is as it was.
  KEYWAY_API void reset_stream(Stream stream);

  // The streams that were current when the guard was made: of the device that was current, and of the stream's device.
  Stream original_stream() const { return original_; }
  Stream replaced_stream() const { return replaced_; }
  Stream current_stream() const { return current_; }
  Device original_device() const { return device_.original_device(); }
  Device current_device() const { return device_.current_device(); }

 private:
  StreamGuard(Stream stream, DeviceGuardImplInterface& impl);
  void restore() noexcept;

  DeviceGuardImplInterface* impl_;  // null: there is nothing to restore
  Stream original_;
  DeviceGuard device_;
  Stream replaced_;
  Stream current_;
};

}  // namespace keyway::inline v1
