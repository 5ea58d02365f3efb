// DeviceSpan: what a call took on its device, by events in the stream that its work went to. Internal to dispatch.
#pragma once

#include <keyway/core/device/event.h>
#include <keyway/dispatch/inspect/profiler.h>

#include <optional>

namespace keyway::inline v1 {

class DeviceSpan {
 public:
  explicit DeviceSpan(Stream stream)
      : stream_(stream), begin_(stream.device_type(), true), end_(stream.device_type(), true) {
    begin_.record(stream_);
  }

  void close() { end_.record(stream_); }
  // After close(): whether the device has come there; waits until it has.
  bool is_done() const { return end_.query(); }
  void wait() const { end_.synchronize(); }
  // Milliseconds, with what was called within. Requires: is_done().
  double total() const { return begin_.elapsed_time(end_); }
  double inner = 0;  // what the calls within have taken

 private:
  Stream stream_;
  Event begin_, end_;
};

// The stream that work of the call goes to: the current one of the device of its first tensor that is not on the host,
// or of the device that it names. None for calls on the host, and while the stream is captured, which forbids events.
std::optional<Stream> device_stream_of(const CallEvent& call);

}  // namespace keyway::inline v1
