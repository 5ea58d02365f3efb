#include <keyway/autocast/autocast.h>
#include <keyway/core/base/error.h>
#include <keyway/python/descriptors.h>
#include <keyway/python/errors.h>
#include <keyway/python/module.h>
#include <keyway/python/values.h>

#include <nanobind/stl/string.h>
#include <string>

namespace keyway::inline v1::python {
namespace {

DeviceType asked_type(const std::string& name) {
  try {
    const Device device = device_named(name);
    KEYWAY_CHECK(!device.has_index(), "it is about a device type, as '{}', not about one device", device.type());
    return device.type();
  } catch (const Error& error) {
    KEYWAY_FAIL(Value, "autocast: {}", error.what());
  }
}

ScalarType asked_dtype(nb::handle object) {
  const auto dtype = dtype_in(object.ptr());
  KEYWAY_CHECK_AS(Type, dtype, "autocast: dtype must be a keyway.dtype, not {}", class_name(object));
  return *dtype;
}

}  // namespace

void add_autocast(nb::module_& module) {
  module.def(
      "is_autocast_enabled", [](const std::string& device) { return is_autocast_enabled(asked_type(device)); },
      nb::arg("device_type") = "cuda", "Whether this thread's calls on devices of the type are autocast.");
  module.def(
      "set_autocast_enabled",
      [](const std::string& device, bool enabled) { set_autocast_enabled(asked_type(device), enabled); },
      nb::arg("device_type"), nb::arg("enabled"),
      "Whether this thread's calls on devices of the type are autocast from now on.");
  module.def(
      "get_autocast_dtype", [](const std::string& device) { return to_object(autocast_dtype(asked_type(device))); },
      nb::arg("device_type"), "The short dtype that this thread's calls on devices of the type are autocast to.");
  module.def(
      "set_autocast_dtype",
      [](const std::string& device, nb::handle dtype) { set_autocast_dtype(asked_type(device), asked_dtype(dtype)); },
      nb::arg("device_type"), nb::arg("dtype").none(),
      "Sets it: float16 or bfloat16, or float32, which shortens nothing. Raises keyway.TypeError for others.");
  module.def("is_autocast_cache_enabled", is_autocast_cache_enabled,
             "Whether this thread converts a weight once in a region, rather than for each call.");
  module.def("set_autocast_cache_enabled", set_autocast_cache_enabled, nb::arg("enabled"), "Sets it.");
  module.def("clear_autocast_cache", clear_autocast_cache, "Lets go of the weights that this thread has converted.");
  module.def("autocast_increment_nesting", autocast_increment_nesting,
             "Enters a region: converted weights are kept. Gives how many this thread is in.");
  module.def("autocast_decrement_nesting", autocast_decrement_nesting,
             "Leaves a region: with the last one, converted weights are let go. Gives how many are left.");
}

}  // namespace keyway::inline v1::python
