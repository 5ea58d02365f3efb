// DeviceGuardImplInterface: what a backend implements so that guards, streams and events work on its devices.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/core/device/graph_impl.h>
#include <keyway/core/device/stream.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace keyway::inline v1 {

// One object for all devices of a type. Every function may be called from any thread. Each thread has its own current
// device, which begins as 0, and on each device its own current stream, which begins as the default one. The allocator
// of the type gives memory of the current device.
//
// Callers have checked that devices are of this type and their indices in range: no function gets a device without an
// index. Functions that take a stream or an event work whatever the current device is, and leave it as it is. Those
// that are not noexcept may throw keyway::Error.
class KEYWAY_API DeviceGuardImplInterface {
 public:
  virtual DeviceType type() const noexcept = 0;
  // How many devices there are now; cheap.
  virtual int device_count() const noexcept = 0;
  // Why there is none, for error texts; empty where nothing is known.
  virtual std::string why_no_device() const { return {}; }

  virtual Device get_device() const = 0;
  // Makes `device` current and returns the one before.
  virtual Device exchange_device(Device device) = 0;
  virtual void set_device(Device device) = 0;
  // The same where nothing may be thrown: a guard goes. A failure is kept for the next call that can report it.
  virtual void unchecked_set_device(Device device) noexcept = 0;

  virtual Stream get_stream(Device device) const = 0;
  virtual Stream get_default_stream(Device device) const = 0;
  virtual Stream get_new_stream(Device device, int priority) = 0;
  // Makes `stream` the current one of its device and returns the one before. Does not throw for a stream that was
  // current.
  virtual Stream exchange_stream(Stream stream) = 0;
  virtual bool query_stream(Stream stream) const = 0;
  virtual void synchronize_stream(Stream stream) const = 0;
  virtual void synchronize_device(Device device) const = 0;

  // A new event of a device; not null. One without `timing` may be cheaper.
  virtual void* create_event(Device device, bool timing) = 0;
  virtual void destroy_event(void* event, Device device) noexcept = 0;
  // The event is now about the work that is in `stream`, a stream of its device; what it was about before is forgotten.
  virtual void record(void* event, Stream stream) = 0;
  // Later work of `stream`, on any device of the type, waits for the event.
  virtual void block(void* event, Stream stream) = 0;
  // Whether the work before the event is done. Events are asked about after record().
  virtual bool query_event(void* event) const = 0;
  virtual void synchronize_event(void* event) const = 0;
  // Milliseconds from one event to another, both made with timing and done.
  virtual double elapsed_time(void* start, void* end) const = 0;

  // Whether work of the stream is written down for a graph instead of done.
  virtual bool is_capturing(Stream) const { return false; }
  // An empty graph. Throws keyway::Error(NotImplemented) where there are none.
  virtual std::unique_ptr<GraphImplInterface> new_graph();

  // A range of the thread's work begins, for tools that watch the devices, or the latest one ends.
  virtual void range_push(const char* /*name*/) noexcept {}
  virtual void range_pop() noexcept {}

  // What the backend's own functions take for the stream. Throws keyway::Error(NotImplemented) where there is no such.
  virtual void* native_handle(Stream stream) const;

  // What DLPack calls the type: a number that the other libraries of the process know it by. 12, the default, is the
  // specification's number for devices that it has none for; only one type in use can have a number.
  virtual std::int32_t dlpack_device_type() const noexcept { return 12; }

 protected:
  ~DeviceGuardImplInterface() = default;
};

// Undoes a registration when it goes.
class KEYWAY_API DeviceGuardRegistration {
 public:
  DeviceGuardRegistration() = default;
  DeviceGuardRegistration(DeviceGuardRegistration&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
  DeviceGuardRegistration& operator=(DeviceGuardRegistration&& other) noexcept {
    std::swap(impl_, other.impl_);
    return *this;
  }
  ~DeviceGuardRegistration() { undo(); }

  // Guards of the type that are still there restore nothing from now on, its events are left to the implementation.
  // Requires: no other thread is about to call the implementation.
  void undo() noexcept;
  // Keeps the registration for good.
  void release() { impl_ = nullptr; }

 private:
  friend KEYWAY_API DeviceGuardRegistration register_device_guard(DeviceGuardImplInterface& impl, const char* file,
                                                                  int line);
  explicit DeviceGuardRegistration(DeviceGuardImplInterface* impl) : impl_(impl) {}

  DeviceGuardImplInterface* impl_ = nullptr;
};

// Makes `impl` serve its device type until the handle goes. Errors: the type has one already, and names where both were
// registered; a type that nobody registered. Requires: `impl` outlives the handle.
[[nodiscard]] KEYWAY_API DeviceGuardRegistration register_device_guard(DeviceGuardImplInterface& impl,
                                                                       const char* file = __builtin_FILE(),
                                                                       int line = __builtin_LINE());

// The implementation of a device type; null if there is none. The CPU and Meta have one built in: one device, all of
// whose work is done when it is queued. Takes no lock.
KEYWAY_API DeviceGuardImplInterface* find_device_guard_impl(DeviceType type);
// The same, after the library of its backend was loaded, if there is one (load_backend.h).
KEYWAY_API DeviceGuardImplInterface* load_device_guard_impl(DeviceType type);
// The same; throws keyway::Error(NotImplemented) if there is none.
KEYWAY_API DeviceGuardImplInterface& device_guard_impl(DeviceType type);

}  // namespace keyway::inline v1
