#include <keyway/core/base/error.h>
#include <keyway/python/default_device.h>
#include <keyway/python/module.h>

#include <nanobind/stl/optional.h>
#include <utility>
#include <vector>

namespace keyway::inline v1::python {
namespace {

thread_local std::optional<Device> device_in_force;
thread_local std::vector<std::optional<Device>> devices_outside;  // of the `with` statements that the thread is in

Device entered(Device self) {
  devices_outside.push_back(device_in_force);
  device_in_force = self;
  return self;
}

void left(Device self, const nb::args&) {
  KEYWAY_CHECK(!devices_outside.empty(), "device.__exit__(): this thread has not entered {}", to_string(self));
  device_in_force = devices_outside.back();
  devices_outside.pop_back();
}

}  // namespace

std::optional<Device> default_device() { return device_in_force; }

std::optional<Device> exchange_default_device(std::optional<Device> device) {
  return std::exchange(device_in_force, device);
}

void add_default_device(nb::module_& module) {
  const nb::object device = module.attr("device");
  device.attr("__enter__") = nb::cpp_function(
      entered, nb::name("__enter__"), nb::is_method(),
      "Makes this the default device of the thread, where factories without `device` make tensors, until __exit__.");
  device.attr("__exit__") = nb::cpp_function(left, nb::name("__exit__"), nb::is_method());
  module.def("_get_default_device", default_device);
  module.def(
      "_set_default_device", [](std::optional<Device> wanted) { device_in_force = wanted; }, nb::arg("device").none());
}

}  // namespace keyway::inline v1::python
