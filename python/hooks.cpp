#include <keyway/autograd/leaf_hooks.h>
#include <keyway/autograd/variable.h>
#include <keyway/core/base/error.h>
#include <keyway/python/errors.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/module.h>
#include <keyway/python/node_binding.h>
#include <keyway/python/node_object.h>
#include <keyway/python/python_call.h>
#include <keyway/python/tensor_object.h>

namespace keyway::inline v1::python {
namespace {

using autograd::Node;
using autograd::variable_list;

// Python functions that are called with gradients. Those of one tensor or node stand in a dict, which a handle takes
// its own out of, and which it can refer to weakly; the graph has one C++ function for the dict.
nb::object new_hook_dict() { return nb::module_::import_("collections").attr("OrderedDict")(); }

// Those that a hook adds wait for the next backward.
nb::list functions_of(PyObject* dict) { return nb::list(nb::borrow<nb::dict>(dict).values()); }

// A gradient as the hooks leave it.
Tensor run_gradient_hooks(PyObject* dict, Tensor grad) {
  for (const nb::handle hook : functions_of(dict)) {
    const nb::object result = call_function(hook, to_object(grad));
    KEYWAY_CHECK_AS(Type, result.is_none() || is_tensor(result.ptr()),
                    "a hook of a tensor returned a {}, which has to be a Tensor or None", class_name(result));
    if (!result.is_none()) grad = tensor_in(result.ptr());
  }
  return grad;
}

// A tuple of gradients as a hook of a node replaces it.
void replace(variable_list& grads, const nb::object& result, const Node& node) {
  if (result.is_none()) return;
  const bool is_one = is_tensor(result.ptr()) && grads.size() == 1;
  const bool is_tuple = PyTuple_Check(result.ptr()) && PyTuple_GET_SIZE(result.ptr()) == Py_ssize_t(grads.size());
  KEYWAY_CHECK_AS(Autograd, is_one || is_tuple, "a hook of {} has to return None or a tuple of {} gradients, not {}",
                  node.name(), grads.size(), class_name(result));
  for (std::size_t i = 0; i < grads.size(); ++i) {
    PyObject* const item = is_one ? result.ptr() : PyTuple_GET_ITEM(result.ptr(), static_cast<Py_ssize_t>(i));
    KEYWAY_CHECK_AS(Type, item == Py_None || is_tensor(item), "a hook of {} returned a {} as gradient {}", node.name(),
                    class_name(item), i);
    grads[i] = item == Py_None ? Tensor() : tensor_in(item);
  }
}

// The dict of an output's hooks, kept by the node. The node has the function below as long as itself.
nb::object hooks_of_output(Node& node, std::uint32_t number, const Tensor& tensor) {
  const nb::object made = new_hook_dict();  // which may run anything: all else is done at once
  auto& dicts = PythonNodeBinding::of(node).tensor_hooks;
  if (dicts.size() <= number) dicts.resize(number + 1);
  if (!dicts[number].is_valid()) {
    autograd::register_hook(tensor, [&node, number](const Tensor& grad) {
      const LockHeld lock;
      const nb::object dict = PythonNodeBinding::of(node).tensor_hooks[number];
      return run_gradient_hooks(dict.ptr(), grad);
    });
    dicts[number] = made;
  }
  return dicts[number];
}

const Tensor& checked_tensor(nb::handle object) {
  KEYWAY_CHECK_AS(Type, is_tensor(object.ptr()), "hooks are those of a Tensor, not of a {}", class_name(object));
  return tensor_in(object.ptr());
}

// The dict of a leaf's hooks, kept by its object, which lives as long as the leaf then.
nb::object gradient_hooks(nb::handle object) {
  const Tensor& tensor = checked_tensor(object);
  autograd::check_not_batched_or_dual(tensor, "register_hook");
  KEYWAY_CHECK_AS(Autograd, tensor.requires_grad(), "register_hook: the tensor does not require grad");
  if (!tensor.is_leaf()) {
    const autograd::Edge edge = autograd::gradient_edge(tensor);
    return hooks_of_output(*edge.node, edge.input_nr, tensor);
  }
  nb::object made = new_hook_dict();
  auto& dict = reinterpret_cast<TensorObject*>(object.ptr())->hooks;
  if (dict == nullptr) {
    autograd::register_hook(tensor, [leaf = tensor.impl()](const Tensor& grad) {
      const LockHeld lock;
      return run_gradient_hooks(nb::borrow(object_of(*leaf)->hooks).ptr(), grad);
    });
    dict = made.release().ptr();
  }
  return nb::borrow(dict);
}

nb::object post_accumulate_hooks(nb::handle object) {
  const Tensor& tensor = checked_tensor(object);
  nb::object made = new_hook_dict();
  auto& dict = reinterpret_cast<TensorObject*>(object.ptr())->post_accumulate_hooks;
  if (dict == nullptr) {
    autograd::register_post_accumulate_grad_hook(tensor, [](const Tensor& leaf) {
      const LockHeld lock;
      const nb::object self = to_object(leaf);
      for (const nb::handle hook : functions_of(object_of(*leaf.impl())->post_accumulate_hooks))
        call_function(hook, self);
    });
    dict = made.release().ptr();
  }
  return nb::borrow(dict);
}

nb::object pre_hooks(Node& node) {
  nb::object made = new_hook_dict();
  PythonNodeBinding& binding = PythonNodeBinding::of(node);
  if (!binding.pre_hooks.is_valid()) {
    node.add_pre_hook([&node](variable_list& grads) {
      const LockHeld lock;
      const nb::object dict = PythonNodeBinding::of(node).pre_hooks;
      for (const nb::handle hook : functions_of(dict.ptr())) replace(grads, call_function(hook, to_tuple(grads)), node);
    });
    binding.pre_hooks = std::move(made);
  }
  return binding.pre_hooks;
}

nb::object post_hooks(Node& node) {
  nb::object made = new_hook_dict();
  PythonNodeBinding& binding = PythonNodeBinding::of(node);
  if (!binding.post_hooks.is_valid()) {
    node.add_post_hook([&node](variable_list& grads, const variable_list& of_outputs) {
      const LockHeld lock;
      const nb::object dict = PythonNodeBinding::of(node).post_hooks;
      grads.resize(node.next_edges().size());
      for (const nb::handle hook : functions_of(dict.ptr()))
        replace(grads, call_function(hook, to_tuple(grads), to_tuple(of_outputs)), node);
    });
    binding.post_hooks = std::move(made);
  }
  return binding.post_hooks;
}

}  // namespace

void add_hooks(nb::module_& module) {
  const auto with_node = [](nb::object (*hooks)(Node&)) {
    return [hooks](const NodeObject& self) { return hooks(self.live()); };
  };
  module.def("gradient_hooks", gradient_hooks, "The dict of the functions that get the gradient of a tensor.");
  module.def("post_accumulate_hooks", post_accumulate_hooks,
             "The dict of the functions that get a leaf after backward has added to its grad.");
  module.def("note_leaf_hook_change", autograd::note_leaf_hook_change,
             "To be called where hooks of tensors are added or removed.");
  module.def("node_pre_hooks", with_node(pre_hooks), "The dict of the functions that are called before a node runs.");
  module.def("node_post_hooks", with_node(post_hooks), "The dict of the functions that are called after a node.");
}

}  // namespace keyway::inline v1::python
