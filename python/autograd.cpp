#include <keyway/autograd/engine.h>
#include <keyway/autograd/gradcheck.h>
#include <keyway/autograd/graph_search.h>
#include <keyway/core/keys/thread_state.h>
#include <keyway/forward/dual_tensor.h>
#include <keyway/forward/gradcheck.h>
#include <keyway/python/errors.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/module.h>
#include <keyway/python/tensor_object.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <vector>

namespace keyway::inline v1::python {
namespace {

using autograd::variable_list;
using OptionalTensors = std::vector<std::optional<Tensor>>;

variable_list or_undefined(const OptionalTensors& tensors) {
  variable_list list;
  for (const auto& tensor : tensors) list.push_back(tensor.value_or(Tensor()));
  return list;
}

// The engine runs without the interpreter lock; nodes and hooks in Python take it.
void backward(const variable_list& tensors, const OptionalTensors& gradients, bool retain_graph, bool create_graph,
              const variable_list& inputs) {
  const variable_list given = or_undefined(gradients);
  const LockReleased unlocked;
  autograd::backward(tensors, given, retain_graph, create_graph, inputs);
}

nb::object grad(const variable_list& outputs, const variable_list& inputs, const OptionalTensors& gradients,
                bool retain_graph, bool create_graph, bool allow_unused) {
  const variable_list given = or_undefined(gradients);
  return to_tuple(
      unlocked([&] { return autograd::grad(outputs, inputs, given, retain_graph, create_graph, allow_unused); }));
}

// A function of a list of tensors in Python, as gradcheck calls it. It gives a list of tensors.
autograd::CheckedFunction checked_function(const nb::callable& function) {
  return [function = function.ptr()](const variable_list& inputs) {
    const LockHeld lock;
    return nb::cast<variable_list>(nb::handle(function)(inputs));
  };
}

template <auto check>
bool run_check(const nb::callable& function, const variable_list& inputs, double eps, double atol, double rtol) {
  const auto checked = checked_function(function);
  const LockReleased unlocked;
  return check(checked, inputs, eps, atol, rtol);
}

// The plain tensors that a dual one is made of.
void append_parts(variable_list& parts, const TensorBase& tensor) {
  const TensorBase live = forward::unwrap_if_ended(tensor);
  const forward::DualValue* dual = forward::dual_value(live);
  if (dual == nullptr) {
    parts.emplace_back(live);
  } else {
    append_parts(parts, dual->primal());
    append_parts(parts, dual->tangent());
  }
}

bool reaches_other_leaves(const variable_list& outputs, const variable_list& inputs) {
  variable_list parts, leaves;
  for (const Tensor& output : outputs) append_parts(parts, output);
  for (const Tensor& input : inputs) leaves.emplace_back(forward::innermost_primal(input));
  return autograd::reaches_other_leaves(parts, leaves);
}

}  // namespace

void add_autograd(nb::module_& module) {
  module.def("backward", backward, "Accumulates gradients; see keyway.autograd.backward.");
  module.def("grad", grad, "Returns gradients; see keyway.autograd.grad.");
  module.def("depends_on_others", reaches_other_leaves,
             "Whether gradients of the outputs flow to leaves that are not reached through the inputs.");
  module.def("gradcheck", run_check<autograd::gradcheck>, "See keyway.autograd.gradcheck.");
  module.def("gradcheck_forward", run_check<forward::gradcheck>, "The same of forward mode.");
  module.def("gradgradcheck", run_check<autograd::gradgradcheck>, "See keyway.autograd.gradgradcheck.");
}

void add_gradient_modes(nb::module_& module, nb::module_& internal) {
  module.def("is_grad_enabled", grad_enabled, "Whether calls of this thread are recorded for backward.");
  module.def("is_inference_mode_enabled", InferenceMode::is_enabled, "Whether this thread is in inference mode.");
  internal.def(
      "set_grad_enabled", [](bool enabled) { thread_state.grad_disabled = !enabled; }, nb::arg("enabled"),
      "Whether calls of this thread are recorded from now on.");
  nb::class_<InferenceMode::Change>(internal, "InferenceModeChange", "What entering has changed.");
  internal.def("enter_inference_mode", &InferenceMode::enter, nb::arg("enabled"), "Gives what to leave it with.");
  internal.def("leave_inference_mode", &InferenceMode::leave, nb::arg("change"), "Takes what entering gave.");
}

}  // namespace keyway::inline v1::python
