// StreamEvents: points in streams that can be waited for. The driver implements them, and so does a test without one.
#pragma once

#include <keyway/core/device/stream.h>

namespace keyway::inline v1::cuda {

class StreamEvents {
 public:
  // Whether a graph is captured in the stream: an event would be a part of that, and nobody could ask for it.
  virtual bool is_capturing(Stream stream) = 0;
  // An event after all work that is queued in the stream now. Throws keyway::Error.
  virtual void* record(Stream stream) = 0;
  virtual bool is_done(void* event) = 0;
  virtual void wait(void* event) = 0;
  virtual void destroy(void* event) noexcept = 0;

 protected:
  ~StreamEvents() = default;
};

}  // namespace keyway::inline v1::cuda
