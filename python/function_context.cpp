#include <keyway/core/base/error.h>
#include <keyway/python/errors.h>
#include <keyway/python/function_context.h>
#include <keyway/python/module.h>
#include <keyway/python/tensor_object.h>

namespace keyway::inline v1::python {
namespace {

using autograd::AutogradContext;

// The tensors among the arguments of `method`, which takes nothing else, but None where `optional`.
autograd::variable_list tensors_in(const nb::args& given, const char* method, bool optional = false) {
  autograd::variable_list tensors;
  for (const nb::handle argument : given) {
    const bool absent = optional && argument.is_none();
    KEYWAY_CHECK_AS(Type, absent || is_tensor(argument.ptr()), "{}: argument {} is a {}, not a Tensor", method,
                    tensors.size(), class_name(argument));
    tensors.push_back(absent ? Tensor() : tensor_in(argument.ptr()));
  }
  return tensors;
}

// A method of the node's context that takes tensors, as one of Python's, which calls it `name`.
template <auto method>
auto of_tensors(const char* name, bool optional = false) {
  return [=](const FunctionContext& self, const nb::args& tensors) {
    (self.live().*method)(tensors_in(tensors, name, optional));
  };
}

nb::object saved_tensors(const FunctionContext& self) {
  if (self.saved_for_forward.is_valid()) return self.saved_for_forward;
  return to_tuple(self.live().saved_tensors());
}

}  // namespace

AutogradContext& FunctionContext::live() const {
  KEYWAY_CHECK_AS(Autograd, node != nullptr, "the context of a Function is used after its graph is gone");
  return node->ctx;
}

void add_function_context(nb::module_& module) {
  nb::class_<FunctionContext> type(module, "FunctionCtx", nb::dynamic_attr(), nb::is_weak_referenceable(),
                                   "What forward of a keyway.autograd.Function leaves for backward.");
  type.def(
      "save_for_backward", of_tensors<&AutogradContext::save_for_backward>("save_for_backward", /*optional=*/true),
      "Keeps tensors, inputs and outputs of forward mostly, or None. backward notices if one was changed in place.");
  type.def(
      "save_for_forward",
      [](FunctionContext& self, const nb::args& tensors) {
        static_cast<void>(tensors_in(tensors, "save_for_forward", /*optional=*/true));
        self.saved_for_forward = nb::borrow(tensors);
      },
      "Keeps tensors, or None, for jvp, which is called as soon as forward has returned.");
  type.def_prop_ro(
      "saved_tensors", saved_tensors,
      "What save_for_backward was given, a tuple; within jvp what save_for_forward was, if it was called.");
  type.def("mark_dirty", of_tensors<&AutogradContext::mark_dirty>("mark_dirty"),
           "Says that forward changed these inputs in place; it has to return them.");
  type.def("mark_non_differentiable", of_tensors<&AutogradContext::mark_non_differentiable>("mark_non_differentiable"),
           "Says that these outputs have no gradient.");
  type.def(
      "set_materialize_grads",
      [](const FunctionContext& self, bool value) { self.live().set_materialize_grads(value); }, nb::arg("value"),
      "Whether backward gets zeros (the default) or None for an output that has no gradient. It is always None for an "
      "output that is no tensor, of integers or marked as not differentiable.");
  type.def_prop_ro(
      "needs_input_grad", [](const FunctionContext& self) { return self.needs_input_grad; },
      "For each argument of forward, whether it requires a gradient: a tuple of bools.");
}

}  // namespace keyway::inline v1::python
