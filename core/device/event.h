// Event: a point in a stream that others can wait for.
#pragma once

#include <keyway/core/base/library_resources.h>
#include <keyway/core/device/device_guard_impl.h>

#include <optional>

namespace keyway::inline v1 {

// Movable only. Made on the device of the stream that it is first recorded in. One that was never recorded, or was
// moved from, is done, and nobody waits for it. If the backend's implementation is undone, the event is left to it.
class Event {
 public:
  // `enable_timing` makes it fit for elapsed_time(). Throws keyway::Error if no backend serves the type.
  KEYWAY_API explicit Event(DeviceType type, bool enable_timing = false);
  KEYWAY_API Event(Event&& other) noexcept;
  KEYWAY_API Event& operator=(Event&& other) noexcept;
  KEYWAY_API ~Event();

  // The event is now the point behind all work queued to `stream` so far. Errors: a stream of another device type, or
  // of another device than the event was recorded on before.
  KEYWAY_API void record(const Stream& stream);
  // Does nothing if it was recorded before.
  void record_once(const Stream& stream) {
    if (!recorded_) record(stream);
  }
  // Later work of `stream` waits for the event; the caller does not. Errors: a stream of another device type.
  KEYWAY_API void block(const Stream& stream) const;

  // Whether the work before the event is done.
  KEYWAY_API bool query() const;
  // Waits until it is.
  KEYWAY_API void synchronize() const;
  // Milliseconds from this event to `end`. Errors: events of different types, made without timing, not recorded or not
  // done.
  KEYWAY_API double elapsed_time(const Event& end) const;

  DeviceType device_type() const { return type_; }
  // Of the stream that it was first recorded in.
  std::optional<Device> device() const { return device_; }
  bool was_recorded() const { return recorded_; }

 private:
  // The implementation that the event is of. Throws if it is there no longer.
  DeviceGuardImplInterface& impl() const;
  void check_type(const Stream& stream) const;
  void check_timed(const char* which) const;

  LibraryResource hold_;                      // as long as there is a handle
  DeviceGuardImplInterface* impl_ = nullptr;  // that made the handle
  void* handle_ = nullptr;                    // null: not made yet
  std::optional<Device> device_;
  DeviceType type_;
  bool timing_;
  bool recorded_ = false;
};

}  // namespace keyway::inline v1
