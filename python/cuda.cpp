#include <keyway/core/base/error.h>
#include <keyway/core/device/cuda_graph.h>
#include <keyway/core/device/event.h>
#include <keyway/core/device/stream_guard.h>
#include <keyway/core/random/generator.h>
#include <keyway/core/tensor/device_allocator.h>
#include <keyway/python/descriptors.h>
#include <keyway/python/errors.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/module.h>
#include <keyway/python/tensor_object.h>

#include <functional>
#include <memory>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace keyway::inline v1::python {
namespace {

constexpr DeviceType kCuda = DeviceType::CUDA;
// What calls of functions go without the interpreter lock: those that may wait for a device, or load the backend.
using Unlocked = nb::call_guard<LockReleased>;

// The argument `device` of PyTorch's functions: text, a number or a device, and None for the current one; of CUDA.
// Loads the backend. Throws keyway::Error as DeviceGuard does.
Device device_argument(nb::handle object) {
  const std::optional<Device> device = object.is_none() ? Device(kCuda) : device_in(object.ptr());
  KEYWAY_CHECK_AS(Type, device, "a CUDA device is text, as 'cuda:1', a number or a device, not {}", class_name(object));
  KEYWAY_CHECK(device->type() == kCuda, "keyway.cuda is about CUDA devices, not about {}", *device);
  const LockReleased unlocked;
  return detail::checked_device(device_guard_impl(kCuda), *device);
}

// A function of a device, which may wait for it, as one of a Python argument.
template <auto function>
auto with_device(nb::handle object) {
  const Device device = device_argument(object);
  const LockReleased unlocked;
  return function(device);
}

// A guard of C++ that a with block holds. It goes in the thread that made it; one whose block is never left stays,
// since no other thread could undo it.
template <typename Guard>
class HeldGuard {
 public:
  explicit HeldGuard(std::unique_ptr<Guard> guard) : guard_(std::move(guard)), thread_(std::this_thread::get_id()) {}
  HeldGuard(const HeldGuard&) = delete;
  HeldGuard& operator=(const HeldGuard&) = delete;
  ~HeldGuard() { (void)guard_.release(); }

  Guard& guard() const {
    KEYWAY_CHECK(guard_ != nullptr, "the block was left already");
    KEYWAY_CHECK(thread_ == std::this_thread::get_id(), "a block is left by the thread that entered it");
    return *guard_;
  }
  void exit() {
    (void)guard();
    guard_.reset();
  }

 private:
  std::unique_ptr<Guard> guard_;
  std::thread::id thread_;
};

using HeldDevice = HeldGuard<DeviceGuard>;
using HeldStream = HeldGuard<StreamGuard>;
using HeldCapture = HeldGuard<CUDAGraphCapture>;

Stream stream_or_current(const std::optional<Stream>& stream) { return stream ? *stream : current_stream(kCuda); }

void set_stream(const Stream& stream) {
  set_device(stream.device());
  device_guard_impl(kCuda).exchange_stream(stream);
}

void wait_for_stream(const Stream& self, const Stream& other) {
  Event event(kCuda);
  event.record(other);
  event.block(self);
}

nb::object record_event(const Stream& self, nb::object event) {
  if (event.is_none()) event = nb::cast(Event(kCuda));
  KEYWAY_CHECK_AS(Type, nb::isinstance<Event>(event), "record_event(): argument 'event' must be Event, not {}",
                  class_name(event));
  Event& recorded = nb::cast<Event&>(event);
  {
    const LockReleased unlocked;
    recorded.record(self);
  }
  return event;
}

void add_streams(nb::module_& module) {
  nb::class_<Stream>(module, "Stream",
                     "A queue of work on a CUDA device, beside the others of the device; a lower `priority` is more "
                     "urgent, and 0 the usual one. Made for the current device unless another is given.")
      .def(
          "__init__",
          [](Stream* self, nb::handle device, int priority) {
            const Device of = device_argument(device);
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
        return "<keyway.cuda.Stream device=" + to_string(self.device()) + " stream_id=" + std::to_string(self.id()) +
               ">";
      });
  module.def("current_stream", with_device<current_stream>, nb::arg("device").none());
  module.def("default_stream", with_device<default_stream>, nb::arg("device").none());
  module.def("set_stream", set_stream, nb::arg("stream"), Unlocked());
  module.def(
      "is_current_stream_capturing", [] { return current_stream(kCuda).is_capturing(); }, Unlocked());
  nb::class_<HeldStream>(module, "StreamGuard", "A stream that is current until exit().")
      .def(
          "__init__",
          [](HeldStream* self, const Stream& stream) { new (self) HeldStream(std::make_unique<StreamGuard>(stream)); },
          nb::arg("stream"), Unlocked())
      .def("exit", &HeldStream::exit);
}

void add_events(nb::module_& module) {
  nb::class_<Event>(module, "Event",
                    "A point in a stream that others can wait for; one that was never recorded is done. With "
                    "enable_timing it is fit for elapsed_time().")
      .def(
          "__init__",
          [](Event* self, bool enable_timing) {
            (void)device_argument(nb::none());  // says why there is none
            new (self) Event(kCuda, enable_timing);
          },
          nb::arg("enable_timing") = false)
      .def(
          "record", [](Event& self, const std::optional<Stream>& stream) { self.record(stream_or_current(stream)); },
          nb::arg("stream") = nb::none(), Unlocked(),
          "Makes it the point behind the work queued to the stream, or to the current one.")
      .def(
          "wait", [](const Event& self, const std::optional<Stream>& stream) { self.block(stream_or_current(stream)); },
          nb::arg("stream") = nb::none(), Unlocked(),
          "Later work of the stream, or of the current one, waits for the event; the caller does not.")
      .def("query", &Event::query, Unlocked(), "Whether the work before the event is done.")
      .def("synchronize", &Event::synchronize, Unlocked(), "Waits until it is.")
      .def("elapsed_time", &Event::elapsed_time, nb::arg("end_event"), Unlocked(),
           "Milliseconds from this event to another one. Raises keyway.ValueError unless both were made with "
           "enable_timing and are done.")
      .def("__repr__", [](const Event& self) {
        if (!self.device()) return std::string("<keyway.cuda.Event, not recorded>");
        return "<keyway.cuda.Event device=" + to_string(*self.device()) + ">";
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

void add_devices(nb::module_& module) {
  module.def(
      "device_count", [] { return device_count(kCuda); }, Unlocked());
  module.def(
      "current_device", [] { return static_cast<int>(current_device(kCuda).index()); }, Unlocked());
  module.def("set_device", with_device<set_device>, nb::arg("device"));
  module.def("synchronize", with_device<static_cast<void (*)(Device)>(synchronize)>, nb::arg("device").none());
  nb::class_<HeldDevice>(module, "DeviceGuard", "A device that is current until exit().")
      .def(
          "__init__",
          [](HeldDevice* self, nb::handle device) {
            const Device next = device_argument(device);
            const LockReleased unlocked;
            new (self) HeldDevice(std::make_unique<DeviceGuard>(next));
          },
          nb::arg("device"))
      .def("exit", &HeldDevice::exit);
  module.def(
      "default_generator", [](nb::handle device) { return default_generator(device_argument(device)); },
      nb::arg("device").none());
  module.def(
      "manual_seed",
      [](nb::handle device, std::uint64_t seed) { default_generator(device_argument(device)).manual_seed(seed); },
      nb::arg("device").none(), nb::arg("seed"));
}

nb::dict stats_dict(nb::handle device) {
  const MemoryStats stats = with_device<memory_stats>(device);
  nb::dict dict;
  const auto level = [&](const std::string& name, const MemoryLevel& of) {
    dict[(name + ".all.current").c_str()] = of.current;
    dict[(name + ".all.peak").c_str()] = of.peak;
  };
  level("active_bytes", stats.active);
  level("allocated_bytes", stats.allocated);
  level("requested_bytes", stats.requested);
  level("reserved_bytes", stats.reserved);
  dict["allocation.all.allocated"] = stats.allocations;
  dict["allocation.all.freed"] = stats.frees;
  dict["num_alloc_retries"] = stats.retries;
  dict["num_ooms"] = stats.out_of_memory;
  dict["num_device_alloc"] = stats.segments;
  dict["num_device_free"] = stats.segments_freed;
  return dict;
}

void add_memory(nb::module_& module) {
  module.def("memory_stats", stats_dict, nb::arg("device").none());
  module.def(
      "memory_summary", [](nb::handle device) { return to_string(with_device<memory_stats>(device)); },
      nb::arg("device").none());
  module.def(
      "mem_get_info",
      [](nb::handle device) {
        const MemoryInfo info = with_device<get_memory_info>(device);
        return nb::make_tuple(info.free, info.total);
      },
      nb::arg("device").none());
  module.def("reset_peak_memory_stats", with_device<reset_peak_memory_stats>, nb::arg("device").none());
  module.def(
      "empty_cache", [] { empty_cache(kCuda); }, Unlocked());
  module.def(
      "set_per_process_memory_fraction",
      [](double fraction, nb::handle device) {
        const Device of = device_argument(device);
        const LockReleased unlocked;
        set_per_process_memory_fraction(fraction, of);
      },
      nb::arg("fraction"), nb::arg("device").none());
  module.def(
      "record_stream", [](const Tensor& tensor, const Stream& stream) { record_stream(tensor, stream); },
      nb::arg("tensor"), nb::arg("stream"), Unlocked());
}

}  // namespace

void add_cuda(nb::module_& module) {
  add_devices(module);
  add_streams(module);
  add_events(module);
  add_graphs(module);
  add_memory(module);
}

}  // namespace keyway::inline v1::python
