#include <keyway/autograd/variable.h>
#include <keyway/core/base/error.h>
#include <keyway/ops/creation.h>
#include <keyway/python/errors.h>
#include <keyway/python/function_context.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/module.h>
#include <keyway/python/node_binding.h>
#include <keyway/python/python_call.h>
#include <keyway/python/tensor_object.h>
#include <keyway/python/tuples.h>

#include <nanobind/stl/string.h>
#include <string>
#include <utility>
#include <vector>

namespace keyway::inline v1::python {
namespace {

using autograd::FunctionNode;
using autograd::variable_list;

nb::object as_tuple(nb::object value) {
  if (PyTuple_Check(value.ptr())) return value;
  return checked(PyTuple_Pack(1, value.ptr()));
}

// What backward gives, an object for each argument of forward, as a gradient for each tensor among these.
variable_list gradients_in(const FunctionNode& node, const nb::object& given, const std::vector<bool>& is_input) {
  const auto count = static_cast<std::size_t>(PyTuple_GET_SIZE(given.ptr()));
  const auto at = [&](std::size_t i) { return PyTuple_GET_ITEM(given.ptr(), static_cast<Py_ssize_t>(i)); };
  std::size_t used = count;
  while (used > is_input.size() && at(used - 1) == Py_None) --used;
  KEYWAY_CHECK_AS(Autograd, used == is_input.size(),
                  "{}: backward returned {} gradients, but forward took {} arguments", node.name(), count,
                  is_input.size());
  variable_list grads;
  for (std::size_t i = 0; i < used; ++i) {
    PyObject* const grad = at(i);
    KEYWAY_CHECK_AS(Type, grad == Py_None || is_tensor(grad),
                    "{}: backward returned a {} as gradient {}, which has to be a Tensor or None", node.name(),
                    class_name(grad), i);
    KEYWAY_CHECK_AS(Autograd, is_input[i] || grad == Py_None,
                    "{}: backward returned a gradient for argument {} of forward, which is no Tensor", node.name(), i);
    if (is_input[i]) grads.push_back(grad == Py_None ? Tensor() : tensor_in(grad));
  }
  return grads;
}

// One call of apply.
class Application {
 public:
  Application(nb::handle function, const nb::object& arguments) : function_(function), arguments_(arguments) {
    std::vector<bool> is_input;
    for (const nb::handle argument : nb::borrow<nb::tuple>(arguments_)) {
      is_input.push_back(is_tensor(argument.ptr()));
      if (is_input.back()) inputs_.push_back(tensor_in(argument.ptr()));
    }
    make_node(std::move(is_input));
  }

  // Of the call that run() made.
  nb::object context() const { return context_; }

  nb::object run(bool sets_up_later) {
    nb::object result = forward(sets_up_later);
    const bool is_tuple = PyTuple_Check(result.ptr()) != 0;
    const auto objects = nb::borrow<nb::tuple>(as_tuple(std::move(result)));
    variable_list outputs;
    for (const nb::handle object : objects) {
      KEYWAY_CHECK_AS(Type, is_tuple || is_tensor(object.ptr()) || object.is_none(),
                      "{}: forward returned a {}, which has to be a Tensor, a tuple or None", node_->name(),
                      class_name(object));
      outputs.push_back(is_tensor(object.ptr()) ? tensor_in(object.ptr()) : Tensor());
    }
    node_->finish(inputs_, outputs, records_);
    if (!is_tuple) return to_object(outputs[0]);          // None, if it is undefined
    return tuple_of(outputs.size(), [&](std::size_t i) {  // what is no tensor passes as it is
      return outputs[i].defined() ? to_object(outputs[i]) : nb::borrow(objects[i]);
    });
  }

  // The result, and what jvp gives for the arguments' tangents, one or None for each; zeros in the place of one that a
  // tensor has not, unless forward said otherwise.
  nb::object with_tangents(nb::object result, const nb::object& tangents) {
    auto& context = *nb::inst_ptr<FunctionContext>(context_);
    std::vector<nb::object> values{context_};
    std::size_t i = 0;
    for (const nb::handle argument : nb::borrow<nb::tuple>(arguments_)) {
      nb::object tangent = nb::borrow(PyTuple_GET_ITEM(tangents.ptr(), static_cast<Py_ssize_t>(i++)));
      const bool is_absent = tangent.is_none() && is_tensor(argument.ptr()) &&
                             autograd::is_differentiable(tensor_in(argument.ptr()).dtype());
      if (is_absent && node_->ctx.materializes_grads())
        tangent = to_object(keyway::zeros_like(tensor_in(argument.ptr())));
      values.push_back(std::move(tangent));
    }
    std::vector<PyObject*> pointers;
    for (const nb::object& value : values) pointers.push_back(value.ptr());
    const nb::object method = function_.attr("jvp");
    const nb::object given = as_tuple(call_python(method, pointers.data(), pointers.size()));
    context.saved_for_forward.reset();
    return nb::make_tuple(std::move(result), given);
  }

 private:
  void make_node(std::vector<bool> is_input) {
    for (const Tensor& input : inputs_) records_ = records_ || input.requires_grad();
    records_ = records_ && grad_enabled();
    const auto name = nb::cast<std::string>(function_.attr("__name__")) + "Backward";
    context_ = nb::cast(FunctionContext(), nb::rv_policy::move);
    node_ = make_intrusive<FunctionNode>(
        name, [context = context_.ptr(), is_input = std::move(is_input)](auto&, const variable_list& grads) {
          return backward(context, is_input, grads);
        });
    for (const Tensor& input : inputs_)
      node_->add_next_edge(records_ ? autograd::gradient_edge(input) : autograd::Edge());

    nb::list needs_grad;
    for (const nb::handle argument : nb::borrow<nb::tuple>(arguments_))
      needs_grad.append(is_tensor(argument.ptr()) && tensor_in(argument.ptr()).requires_grad());
    auto& context = *nb::inst_ptr<FunctionContext>(context_);
    context.node = node_.get();
    context.needs_input_grad = checked(PyList_AsTuple(needs_grad.ptr()));
    PythonNodeBinding& binding = PythonNodeBinding::of(*node_);
    binding.context = context_;
    binding.function = nb::borrow(function_);
  }

  nb::object forward(bool sets_up_later) {
    const NoGradGuard no_grad;
    if (!sets_up_later) return function_.attr("forward")(context_, *nb::borrow<nb::args>(arguments_));
    nb::object result = function_.attr("forward")(*nb::borrow<nb::args>(arguments_));
    function_.attr("setup_context")(context_, arguments_, result);
    return result;
  }

  // Called by the engine. The node holds the context.
  static variable_list backward(PyObject* context, const std::vector<bool>& is_input, const variable_list& grads) {
    const LockHeld lock;
    const nb::object ctx = nb::borrow(context);
    FunctionNode& node = *nb::inst_ptr<FunctionContext>(ctx)->node;
    const nb::object function = PythonNodeBinding::of(node).function;
    const nb::object method = function.attr("backward");
    const nb::object tuple = to_tuple(grads);
    std::vector<PyObject*> values{context};
    for (const nb::handle grad : nb::borrow<nb::tuple>(tuple)) values.push_back(grad.ptr());
    const nb::object result = call_python(method, values.data(), values.size());
    return gradients_in(node, as_tuple(result), is_input);
  }

  nb::handle function_;
  nb::object arguments_;
  variable_list inputs_;
  bool records_ = false;
  nb::object context_;
  intrusive_ptr<FunctionNode> node_;
};

}  // namespace

void add_function_node(nb::module_& module) {
  module.def(
      "apply_function",
      [](nb::handle function, const nb::object& arguments, bool sets_up_later) {
        Application application(function, arguments);
        nb::object result = application.run(sets_up_later);
        nb::inst_ptr<FunctionContext>(application.context())->saved_for_forward.reset();
        return result;
      },
      nb::arg("function"), nb::arg("arguments"), nb::arg("sets_up_later"),
      "Calls forward of a Function, and records the call.");
  module.def(
      "apply_function_with_jvp",
      [](nb::handle function, const nb::object& arguments, bool sets_up_later, const nb::object& tangents) {
        Application application(function, arguments);
        nb::object result = application.run(sets_up_later);
        return application.with_tangents(std::move(result), tangents);
      },
      nb::arg("function"), nb::arg("arguments"), nb::arg("sets_up_later"), nb::arg("tangents"),
      "The same, and calls jvp with the tangents of the arguments: gives the result and what jvp gives.");
}

}  // namespace keyway::inline v1::python
