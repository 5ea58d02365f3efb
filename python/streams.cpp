// keyway.Stream and keyway.Event, which are of any device type, and keyway.cuda.CUDAGraph.
#include <keyway/core/base/error.h>
#include <keyway/core/device/cuda_graph.h>
#include <keyway/core/device/event.h>
#include <keyway/core/device/stream_guard.h>
#include <keyway/core/tensor/device_allocator.h>
#include <keyway/python/descriptors.h>
#include <keyway/python/device_arguments.h>
#include <keyway/python/held_guard.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/module.h>
#include <keyway/python/tensor_object.h>

#include <functional>
#include <memory>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <optional>
#include <string>

namespace keyway::inline v1::python {
namespace {

using HeldStream = HeldGuard<StreamGuard>;
using HeldCapture = HeldGuard<CUDAGraphCapture>;

// The type of the devices that a stream or an event is made for. Loads the backend.
DeviceType type_of(nb::handle device) {
  const std::optional<Device> given = device.is_none() ? std::nullopt : device_in(device.ptr());
  KEYWAY_CHECK_AS(Type, device.is_none() || given, "a device is text, as 'cuda:1', a number or a device, not {}",
                  class_name(device));
  const LockReleased unlocked;
  const DeviceType type = given ? given->type() : accelerator();
  (void)detail::checked_device(device_guard_impl(type), type);  // says why there is none
  return type;
}

Stream stream_or_current(const Event& event, const std::optional<Stream>& stream) {
  return stream ? *stream : current_stream(event.device_type());
}

void set_stream(const Stream& stream) {
  set_device(stream.device());
  device_guard_impl(stream.device_type()).exchange_stream(stream);
}

void wait_for_stream(const Stream& self, const Stream& other) {
  Event event(other.device_type());
  event.record(other);
  event.block(self);
}

nb::object record_event(const Stream& self, nb::object event) {
  if (event.is_none()) event = nb::cast(Event(self.device_type()));
  KEYWAY_CHECK_AS(Type, nb::isinstance<Event>(event), "record_event(): argument 'event' must be Event, not {}",
                  class_name(event));
  Event& recorded = nb::cast<Event&>(event);
  {
    const LockReleased unlocked;
    recorded.record(self);
  }
  return event;
}

void add_stream_class(nb::module_& module) {
  nb::class_<Stream>(module, "Stream",
                     "A queue of work on a device, beside the others of the device; a lower `priority` is more urgent, "
                     "and 0 the usual one. Made for the current device unless another is given: of CUDA, or of the "
                     "type of keyway.accelerator.")
      .def(
          "__init__",
          [](Stream* self, nb::handle device, int priority) {
            const Device of = device_argument(type_of(device), device);
            const LockReleased unlocked;  // the first one makes the device's pool
            new (self) Stream(new_stream(of, priority));
          },
          nb::arg("device").none() = nb::none(), nb::arg("priority") = 0)
      .def_prop_ro("device", [](const Stream& self) { return to_object(self.device()); })
      .def_prop_ro("stream_id", &Stream::id)
      .def("query", &Stream::query, Unlocked(), "Whether all work queued so far is done.")
      .def("synchronize", &Stream::synchronize, Unlocked(), "Waits until it is.")
      .def(
          "wait_event", [](const Stream& self, const Event& event) { event.block(self); }, nb::arg("event"), Unlocked(),
          "Later work of this stream waits for the event; the caller does not.")
      .def("wait_stream", wait_for_stream, nb::arg("stream"), Unlocked(),
           "Later work of this stream waits for what is in the other one now; the caller does not.")
      .def("record_event", record_event, nb::arg("event").none() = nb::none(),
           "Records an event, or a new one, behind the work queued so far, and returns it.")
      .def("__eq__",
           [](const Stream& self, nb::handle other) {
             return nb::isinstance<Stream>(other) && nb::cast<const Stream&>(other) == self;
           })
      .def("__hash__", [](const Stream& self) { return static_cast<Py_hash_t>(std::hash<Stream>()(self) >> 1); })
      .def("__repr__", [](const Stream& self) {
        return "<keyway.Stream device=" + to_string(self.device()) + " stream_id=" + std::to_string(self.id()) + ">";
      });
}

void add_event_class(nb::module_& module) {
  nb::class_<Event>(module, "Event",
                    "A point in a stream that others can wait for; one that was never recorded is done. With "
                    "enable_timing it is fit for elapsed_time(). It is for streams of the type of `device`: by default "
                    "of CUDA, or of the type of keyway.accelerator.")
      .def(
          "__init__",
          [](Event* self, nb::handle device, bool enable_timing) { new (self) Event(type_of(device), enable_timing); },
          nb::arg("device").none() = nb::none(), nb::arg("enable_timing") = false)
      .def_prop_ro(
          "device", [](const Event& self) { return to_object(self.device().value_or(Device(self.device_type()))); },
          "Of the stream that it was first recorded in; without an index until then.")
      .def(
          "record",
          [](Event& self, const std::optional<Stream>& stream) { self.record(stream_or_current(self, stream)); },
          nb::arg("stream") = nb::none(), Unlocked(),
          "Makes it the point behind the work queued to the stream, or to the current one.")
      .def(
          "wait",
          [](const Event& self, const std::optional<Stream>& stream) { self.block(stream_or_current(self, stream)); },
          nb::arg("stream") = nb::none(), Unlocked(),
          "Later work of the stream, or of the current one, waits for the event; the caller does not.")
      .def("query", &Event::query, Unlocked(), "Whether the work before the event is done.")
      .def("synchronize", &Event::synchronize, Unlocked(), "Waits until it is.")
      .def("elapsed_time", &Event::elapsed_time, nb::arg("end_event"), Unlocked(),
           "Milliseconds from this event to another one. Raises keyway.ValueError unless both were made with "
           "enable_timing and are done.")
      .def("__repr__", [](const Event& self) {
        if (!self.device()) return std::string("<keyway.Event, not recorded>");
        return "<keyway.Event device=" + to_string(*self.device()) + ">";
      });
}

void add_graphs(nb::module_& module) {
  nb::class_<CUDAGraph>(module, "CUDAGraph",
                        "Work of a device that is captured once and then done again and again by one call; "
                        "keyway.cuda.graph captures it.")
      .def(nb::init<>())
      .def(
          "capture_begin", [](CUDAGraph& self, std::optional<MempoolId> pool) { self.capture_begin(pool.value_or(0)); },
          nb::arg("pool") = nb::none(), Unlocked(),
          "Captures what is queued in the current stream from now on, which must not be the default one. `pool` is "
          "that of another graph that is never replayed at the same time.")
      .def("capture_end", &CUDAGraph::capture_end, Unlocked(),
           "Ends the capture. Raises keyway.Error if anything was refused meanwhile; the graph is empty then.")
      .def("replay", &CUDAGraph::replay, Unlocked(), "Queues the work in the current stream.")
      .def("reset", &CUDAGraph::reset, Unlocked(), "Forgets the work.")
      .def("pool", &CUDAGraph::pool, "What capture_begin of another graph takes, to share this one's memory.");
  nb::class_<HeldCapture>(module, "Capture", "A capture in a stream of its own, until exit().")
      .def(
          "__init__",
          [](HeldCapture* self, CUDAGraph& graph, std::optional<MempoolId> pool, std::optional<Stream> stream) {
            const LockReleased unlocked;
            new (self) HeldCapture(std::make_unique<CUDAGraphCapture>(graph, pool.value_or(0), stream));
          },
          nb::arg("graph"), nb::arg("pool").none(), nb::arg("stream").none(), nb::keep_alive<1, 2>())
      .def(
          "exit",
          [](HeldCapture& self, bool succeeded) {
            CUDAGraphCapture& capture = self.guard();
            try {
              if (succeeded) capture.end();
            } catch (...) {
              self.exit();  // the stream that was current is current again
              throw;
            }
            self.exit();
          },
          nb::arg("succeeded"), Unlocked());
}

// Functions of the streams of one type of device.
void add_stream_functions(nb::module_& module) {
  nb::class_<HeldStream>(module, "StreamGuard", "A stream that is current until exit().")
      .def(
          "__init__",
          [](HeldStream* self, const Stream& stream) { new (self) HeldStream(std::make_unique<StreamGuard>(stream)); },
          nb::arg("stream"), Unlocked())
      .def("exit", &HeldStream::exit);
  using Of = Stream (*)(Device);
  const auto stream_of = [](Of function) {
    return [function](const std::string& type, nb::handle device) {
      const Device of = device_argument(device_type_named(type), device);
      const LockReleased unlocked;
      return function(of);
    };
  };
  module.def(
      "stream",
      [](const std::string& type, nb::handle device, int priority) {
        const Device of = device_argument(device_type_named(type), device);
        const LockReleased unlocked;
        return new_stream(of, priority);
      },
      nb::arg("type"), nb::arg("device").none() = nb::none(), nb::arg("priority") = 0);
  module.def(
      "event",
      [](const std::string& type, bool enable_timing) {
        (void)device_argument(device_type_named(type), nb::none());  // says why there is none
        return Event(device_type_named(type), enable_timing);
      },
      nb::arg("type"), nb::arg("enable_timing") = false);
  module.def("current_stream", stream_of(current_stream), nb::arg("type"), nb::arg("device").none());
  module.def("default_stream", stream_of(default_stream), nb::arg("type"), nb::arg("device").none());
  module.def("set_stream", set_stream, nb::arg("stream"), Unlocked());
  module.def(
      "is_current_stream_capturing",
      [](const std::string& type) { return current_stream(device_type_named(type)).is_capturing(); }, nb::arg("type"),
      Unlocked());
  module.def(
      "record_stream", [](const Tensor& tensor, const Stream& stream) { record_stream(tensor, stream); },
      nb::arg("tensor"), nb::arg("stream"), Unlocked());
}

}  // namespace

void add_streams(nb::module_& module, nb::module_& internal) {
  add_stream_class(module);
  add_event_class(module);
  add_graphs(internal);
  add_stream_functions(internal);
}

}  // namespace keyway::inline v1::python
