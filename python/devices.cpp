// What the modules of device types, as keyway.cuda, ask: which devices there are, and how their memory is used.
#include <keyway/core/base/error.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/core/random/generator.h>
#include <keyway/core/tensor/device_allocator.h>
#include <keyway/python/descriptors.h>
#include <keyway/python/device_arguments.h>
#include <keyway/python/held_guard.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/module.h>
#include <keyway/python/tensor_object.h>

#include <cstdint>
#include <memory>
#include <nanobind/stl/string.h>
#include <optional>
#include <string>

namespace keyway::inline v1::python {
namespace {

using HeldDevice = HeldGuard<DeviceGuard>;

// A function of a device, which may wait for it, as one of a type's name and a Python argument.
template <auto function>
auto with_device(const std::string& type, nb::handle object) {
  const Device device = device_argument(device_type_named(type), object);
  const LockReleased unlocked;
  return function(device);
}

// Types that keyway._backends has seen, by number. Guarded by the interpreter lock.
std::uint32_t attached = 0;

// The name of a type that has no devices is a name all the same: 0 of them.
int count_of(const std::string& type) {
  const auto known = find_device_type(type);
  return known ? device_count(*known) : 0;
}

void add_device_functions(nb::module_& module) {
  module.def("device_count", count_of, nb::arg("type"), Unlocked());
  module.def(
      "current_device",
      [](const std::string& type) { return static_cast<int>(current_device(device_type_named(type)).index()); },
      nb::arg("type"), Unlocked());
  module.def("set_device", with_device<set_device>, nb::arg("type"), nb::arg("device"));
  module.def("synchronize", with_device<static_cast<void (*)(Device)>(synchronize)>, nb::arg("type"),
             nb::arg("device").none());
  module.def(
      "is_known", [](const std::string& type) { return find_device_type(type).has_value(); }, nb::arg("type"));
  module.def(
      "load_backend",
      [](const std::string& type) {
        try {
          return Device(type).type() == *find_device_type(type);
        } catch (const Error&) {
          return false;  // keyway.device() says why
        }
      },
      nb::arg("type"), Unlocked(), "Whether the type is known after libkeyway_<type>.so was looked for and loaded.");
  module.def(
      "accelerator", [] { return std::string(to_string(accelerator())); }, Unlocked(),
      "The type of devices that is meant where none is named.");
  nb::class_<HeldDevice>(module, "DeviceGuard", "A device that is current until exit().")
      .def(
          "__init__",
          [](HeldDevice* self, const std::string& type, nb::handle device) {
            const Device next = device_argument(device_type_named(type), device);
            const LockReleased unlocked;
            new (self) HeldDevice(std::make_unique<DeviceGuard>(next));
          },
          nb::arg("type"), nb::arg("device"))
      .def("exit", &HeldDevice::exit);
  module.def(
      "default_generator",
      [](const std::string& type, nb::handle device) {
        return default_generator(device_argument(device_type_named(type), device));
      },
      nb::arg("type"), nb::arg("device").none());
}

nb::dict stats_dict(const std::string& type, nb::handle device) {
  const MemoryStats stats = with_device<memory_stats>(type, device);
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

void add_memory_functions(nb::module_& module) {
  module.def("memory_stats", stats_dict, nb::arg("type"), nb::arg("device").none());
  module.def(
      "memory_summary",
      [](const std::string& type, nb::handle device) { return to_string(with_device<memory_stats>(type, device)); },
      nb::arg("type"), nb::arg("device").none());
  module.def(
      "mem_get_info",
      [](const std::string& type, nb::handle device) {
        const MemoryInfo info = with_device<get_memory_info>(type, device);
        return nb::make_tuple(info.free, info.total);
      },
      nb::arg("type"), nb::arg("device").none());
  module.def("reset_peak_memory_stats", with_device<reset_peak_memory_stats>, nb::arg("type"),
             nb::arg("device").none());
  module.def(
      "empty_cache", [](const std::string& type) { empty_cache(device_type_named(type)); }, nb::arg("type"),
      Unlocked());
  module.def(
      "set_per_process_memory_fraction",
      [](const std::string& type, double fraction, nb::handle device) {
        const Device of = device_argument(device_type_named(type), device);
        const LockReleased unlocked;
        set_per_process_memory_fraction(fraction, of);
      },
      nb::arg("type"), nb::arg("fraction"), nb::arg("device").none());
}

}  // namespace

DeviceType device_type_named(const std::string& name) {
  const auto type = find_device_type(name);
  KEYWAY_CHECK(type, "no device type is called '{}'", name);
  return *type;
}

Device device_argument(DeviceType type, nb::handle object) {
  std::optional<Device> device;
  if (object.is_none()) {
    device = Device(type);
  } else if ((device = device_in(object.ptr())) && PyLong_Check(object.ptr())) {
    device = Device(type, device->index());
  }
  KEYWAY_CHECK_AS(Type, device, "a device of type {} is text, as '{}:1', a number or a device, not {}", to_string(type),
                  to_string(type), class_name(object));
  KEYWAY_CHECK(device->type() == type, "keyway.{} is about devices of type {}, not about {}", to_string(type),
               to_string(type), *device);
  const LockReleased unlocked;
  return detail::checked_device(device_guard_impl(type), *device);
}

DeviceType accelerator() {
  if (device_count(kCUDA) > 0) return kCUDA;
  for (int number = 0; number < kNumDeviceTypes; ++number) {
    const auto type = static_cast<DeviceType>(number);
    if (type != kCPU && type != kMeta && type != kCUDA && device_count(type) > 0) return type;
  }
  return kCUDA;
}

void attach_device_type(DeviceType type) {
  const auto number = static_cast<unsigned>(type);
  if (number <= static_cast<unsigned>(kMeta) || (attached >> number & 1) != 0) return;
  attached |= std::uint32_t{1} << number;
  nb::module_::import_("keyway._backends").attr("attach")(std::string(to_string(type)));
}

void attach_device_types() {
  for (int number = 0; number < kNumDeviceTypes; ++number) {
    const auto type = static_cast<DeviceType>(number);
    if (to_string(type) != "unknown") attach_device_type(type);
  }
}

void add_devices(nb::module_& internal) {
  add_device_functions(internal);
  add_memory_functions(internal);
}

}  // namespace keyway::inline v1::python
