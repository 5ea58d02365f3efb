#include <keyway/dispatch/dispatcher.h>
#include <keyway/python/api_names.h>
#include <keyway/python/errors.h>
#include <keyway/python/operator_function.h>
#include <keyway/python/operators.h>
#include <keyway/python/tensor_object.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace nb = nanobind;

namespace keyway::inline v1::python {
namespace {

std::vector<OperatorHandle> overloads_of(const ApiName& name) {
  std::vector<OperatorHandle> overloads;
  std::istringstream words(name.overloads);
  for (std::string word; words >> word;) overloads.push_back(Dispatcher::singleton().op(word));
  return overloads;
}

// Every operator of a namespace and name: what keyway.ops finds.
nb::object find_operator(const std::string& name) {
  std::vector<OperatorHandle> overloads;
  for (const OperatorHandle& op : Dispatcher::singleton().ops()) {
    if (op.entry().info().name == name) overloads.push_back(op);
  }
  if (overloads.empty()) return nb::none();
  return make_operator_function(name, overloads, CallStyle::Function, {});
}

nb::object find_overload(const std::string& name) {
  const auto op = Dispatcher::singleton().find_op(name);
  if (!op) return nb::none();
  return make_operator_function(name, {*op}, CallStyle::Function, {});
}

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (const OperatorHandle& op : Dispatcher::singleton().ops()) names.push_back(op.name());
  return names;
}

}  // namespace

void add_operators(nb::module_& module) {
  add_operator_function_class(module);
  nb::module_ nn = module.def_submodule("_nn");
  for (const ApiName& name : kApiNames) {
    const std::string_view place = name.place;
    const CallStyle style = place == "Tensor" ? CallStyle::Method : CallStyle::Function;
    const nb::object function = make_operator_function(name.name, overloads_of(name), style, name.doc);
    if (style == CallStyle::Method) {
      if (PyObject_SetAttrString(reinterpret_cast<PyObject*>(tensor_class), name.name, function.ptr()) != 0)
        rethrow_python_error();
    } else {
      (place == "nn" ? nn : module).attr(name.name) = function;
    }
  }
  module.def("_find_operator", find_operator, "The function of all overloads of 'ns::name', or None.");
  module.def("_find_overload", find_overload, "The function of the overload 'ns::name.overload', or None.");
  module.def("_operator_names", operator_names, "Full names of all operators.");
}

}  // namespace keyway::inline v1::python
