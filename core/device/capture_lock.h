// CaptureLock: captures of one device are made one after the other. Each begins by waiting for the device, which must
// not be waited for while something of it is captured, and all of them use one stream.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/core/device/device.h>

#include <mutex>

namespace keyway::inline v1 {

// A thread may have several for one device. It may go in another thread than the one that made it.
class CaptureLock {
 public:
  // Waits until no other thread has one for this CUDA device. Errors: the thread has one for another device.
  KEYWAY_API explicit CaptureLock(Device device);
  // Does not wait, and is not held where the other one would wait or throw.
  KEYWAY_API CaptureLock(Device device, std::try_to_lock_t try_to_lock);
  KEYWAY_API ~CaptureLock();
  CaptureLock(const CaptureLock&) = delete;
  CaptureLock& operator=(const CaptureLock&) = delete;

  Device device() const { return device_; }
  bool is_held() const { return is_held_; }

 private:
  const Device device_;
  bool is_held_ = true;
};

}  // namespace keyway::inline v1
