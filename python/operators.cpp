#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/python/api_names.h>
#include <keyway/python/module.h>
#include <keyway/python/operator_function.h>
#include <keyway/python/tensor_object.h>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1::python {
namespace {

std::vector<OperatorHandle> overloads_of(const ApiName& name) {
  std::vector<OperatorHandle> overloads;
  std::istringstream words(name.overloads);
  for (std::string word; words >> word;) overloads.push_back(Dispatcher::singleton().op(word));
  return overloads;
}

}  // namespace

void add_operators(nb::module_& module) {
  nb::module_ nn = module.def_submodule("_nn");
  for (const ApiName& name : kApiNames) {
    const std::string_view owner = name.owner;
    const CallStyle style = owner == "Tensor" ? CallStyle::Method : CallStyle::Function;
    const nb::object function = make_operator_function(name.name, overloads_of(name), style, name.doc);
    const nb::handle place = style == CallStyle::Method ? nb::handle(tensor_class) : owner == "nn" ? nn : module;
    place.attr(name.name) = function;
  }
}

}  // namespace keyway::inline v1::python
