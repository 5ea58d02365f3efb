#include <keyway/graph/control_flow.h>
#include <keyway/python/graph_functions.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/tensor_object.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace keyway::inline v1::python {
namespace {

// Requires: the caller holds the lock, and outlives the function. Within a capture an error of Python becomes the
// reason of a refusal.
graph::TensorFunction function_of(nb::handle function) {
  return [function](const std::vector<Tensor>& tensors) {
    const LockHeld lock;
    try {
      return nb::cast<std::vector<Tensor>>(function(tensors));
    } catch (nb::python_error& error) {
      if (!graph::is_capturing()) throw;
      const std::string text = nb::cast<std::string>(nb::str(error.value()));
      KEYWAY_FAIL(Value, "{}: {}", nb::cast<std::string>(error.type().attr("__name__")), text);
    }
  };
}

}  // namespace

void add_graph_functions(nb::module_& module) {
  module.def(
      "cond",
      [](const Tensor& pred, nb::handle true_fn, nb::handle false_fn, const std::vector<Tensor>& operands) {
        return graph::cond(pred, function_of(true_fn), function_of(false_fn), operands);
      },
      nb::arg("pred"), nb::arg("true_fn"), nb::arg("false_fn"), nb::arg("operands"));
  module.def(
      "while_loop",
      [](nb::handle cond_fn, nb::handle body_fn, const std::vector<Tensor>& carried_inputs) {
        return graph::while_loop(function_of(cond_fn), function_of(body_fn), carried_inputs);
      },
      nb::arg("cond_fn"), nb::arg("body_fn"), nb::arg("carried_inputs"));
}

}  // namespace keyway::inline v1::python
