// CaptureStreams: what a backend's device guard implements too if it has streams that are there for captures alone. A
// stream of a pool may be had by several, and all that is queued in a stream while it is captured becomes a part of the
// graph, whoever queues it.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/core/device/stream.h>

namespace keyway::inline v1 {

class KEYWAY_API CaptureStreams {
 public:
  // The one of the device, which get_new_stream() never gives. Requires: the caller has the device's CaptureLock.
  virtual Stream capture_stream(Device device) = 0;

 protected:
  ~CaptureStreams() = default;
};

}  // namespace keyway::inline v1
