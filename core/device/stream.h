// Stream: a queue of work on a device. Work of one stream runs in order; streams run beside each other.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/core/device/device.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace keyway::inline v1 {

using StreamId = std::int64_t;

// A value that names a stream and owns nothing. Its number is the backend's: only 0, the default stream that every
// device has, means the same everywhere; others come from new_stream() and current_stream().
class Stream {
 public:
  // Errors: a device without an index, unless it is the CPU or Meta, which are one device each.
  constexpr explicit Stream(Device device, StreamId id = 0) : device_(device), id_(id) {
    if (device.is_cpu() || device.is_meta()) {
      device_ = Device(device.type());
    } else if (!device.has_index()) {
      fail_device(device);
    }
  }

  constexpr Device device() const { return device_; }
  constexpr DeviceType device_type() const { return device_.type(); }
  constexpr StreamId id() const { return id_; }
  constexpr bool is_default() const { return id_ == 0; }

  // Whether all work queued so far is done.
  KEYWAY_API bool query() const;
  // Waits until it is.
  KEYWAY_API void synchronize() const;
  // What the backend's own functions take for it, for code that queues work beside operators: of CUDA its cudaStream_t,
  // static_cast<cudaStream_t>(stream.native_handle()). It belongs to the backend. Throws keyway::Error(NotImplemented)
  // where there is no such, as on the CPU.
  KEYWAY_API void* native_handle() const;
  // Whether a graph is being captured in it (cuda_graph.h).
  KEYWAY_API bool is_capturing() const;

  friend constexpr bool operator==(const Stream&, const Stream&) = default;

 private:
  [[noreturn]] KEYWAY_API static void fail_device(Device device);

  Device device_;
  StreamId id_;
};

// "stream 3 of cuda:1", or "default stream of cuda:1".
KEYWAY_API std::string to_string(const Stream& stream);

// The stream that the thread's work on a device is queued to. These three take the current device where `device` has no
// index, and throw keyway::Error as DeviceGuard does.
KEYWAY_API Stream current_stream(Device device);
KEYWAY_API Stream default_stream(Device device);
// A stream that runs beside the default one; of a backend's pool, which may give one out again. A lower `priority`
// is more urgent; 0 is the usual one.
KEYWAY_API Stream new_stream(Device device, int priority = 0);

}  // namespace keyway::inline v1

template <>
struct std::hash<keyway::Stream> {
  std::size_t operator()(const keyway::Stream& stream) const noexcept {
    const auto device =
        static_cast<std::size_t>(stream.device_type()) << 8 | static_cast<std::uint8_t>(stream.device().index());
    return std::hash<keyway::StreamId>()(stream.id()) * 0x9e3779b97f4a7c15u ^ device;
  }
};
