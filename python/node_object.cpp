#include <keyway/autograd/accumulate_grad.h>
#include <keyway/autograd/variable.h>
#include <keyway/core/base/error.h>
#include <keyway/forward/dual_tensor.h>
#include <keyway/python/errors.h>
#include <keyway/python/module.h>
#include <keyway/python/node_binding.h>
#include <keyway/python/node_object.h>
#include <keyway/python/tensor_object.h>
#include <keyway/python/tuples.h>

#include <nanobind/stl/string.h>
#include <new>
#include <string>

namespace keyway::inline v1::python {
namespace {

nb::object next_functions(const NodeObject& self) {
  const auto& edges = self.live().next_edges();
  return tuple_of(edges.size(),
                  [&](std::size_t i) { return nb::make_tuple(to_object(edges[i].node), edges[i].input_nr); });
}

nb::object metadata(const NodeObject& self) {
  nb::object& dict = PythonNodeBinding::of(self.live()).metadata;
  if (!dict.is_valid()) dict = nb::dict();
  return dict;
}

// What else a node has: an accumulator its leaf, a Function what its context has.
nb::object attribute(const NodeObject& self, nb::str name) {
  autograd::Node& node = self.live();
  if (PyUnicode_CompareWithASCIIString(name.ptr(), "variable") == 0) {
    if (const auto* end = dynamic_cast<const autograd::AccumulateGrad*>(&node)) return to_object(end->leaf());
  }
  const auto* const binding = static_cast<const PythonNodeBinding*>(node.binding());
  if (binding != nullptr && binding->context.is_valid()) return binding->context.attr(name);
  PyErr_Format(PyExc_AttributeError, "'%s' has no attribute '%U'", node.name().c_str(), name.ptr());
  rethrow_python_error();
}

// The node has no object any more, if this is the one it had.
void forget(const autograd::Node& node, PyObject* object) {
  auto* const binding = static_cast<PythonNodeBinding*>(node.binding());
  if (binding != nullptr && binding->object == object) binding->object = nullptr;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const auto& node = nb::inst_ptr<NodeObject>(self)->node;
  return node && node->use_count() == 1 ? visit_graph(*node, visit, arg) : 0;
}
int clear(PyObject* self) {
  if (!nb::inst_ready(self)) return 0;
  const intrusive_ptr<autograd::Node> freed = std::move(nb::inst_ptr<NodeObject>(self)->node);
  if (freed) forget(*freed, self);
  return 0;
}

PyType_Slot node_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {0, nullptr},
};

PyTypeObject* node_class = nullptr;

std::uint32_t output_nr(const Tensor& self) {
  return autograd::gradient_edge(forward::innermost_primal(self)).input_nr;
}
nb::object grad_fn(const Tensor& self) { return to_object(autograd::grad_fn(forward::innermost_primal(self))); }

}  // namespace

NodeObject::~NodeObject() {
  if (node) forget(*node, self);
}

autograd::Node& NodeObject::live() const {
  KEYWAY_CHECK_AS(Autograd, node, "a node is used that the garbage collector has taken");
  return *node;
}

nb::object to_object(const intrusive_ptr<autograd::Node>& node) {
  if (!node) return nb::none();
  PythonNodeBinding& binding = PythonNodeBinding::of(*node);
  const auto has_object = [&] { return binding.object != nullptr && Py_REFCNT(binding.object) > 0; };
  if (has_object()) return nb::borrow(binding.object);
  nb::object made = nb::inst_alloc(reinterpret_cast<PyObject*>(node_class));
  if (has_object()) return nb::borrow(binding.object);  // the garbage collector was run, and with it anything
  new (nb::inst_ptr<NodeObject>(made)) NodeObject(node, made.ptr());
  nb::inst_mark_ready(made);
  binding.object = made.ptr();
  return made;
}

void add_node_class(nb::module_& module) {
  nb::class_<NodeObject> type(module, "Node", nb::type_slots(node_slots), nb::is_weak_referenceable(),
                              "One differentiable call in the graph of gradients.");
  node_class = reinterpret_cast<PyTypeObject*>(type.ptr());
  type.def(
      "name", [](const NodeObject& self) { return self.live().name(); }, "What was called: 'MulBackward0'.");
  type.def("__repr__", [](const NodeObject& self) {
    return "<" + (self.node ? self.node->name() : std::string("a node that is gone")) + ">";
  });
  type.def("__getattr__", attribute);
  type.def(
      "_sequence_nr", [](const NodeObject& self) { return self.live().sequence_nr(); },
      "Nodes of higher numbers run earlier in backward.");
  type.def_prop_ro("next_functions", next_functions,
                   "Where the gradients of the inputs go: a tuple of (node or None, number of its output).");
  type.def_prop_ro("metadata", metadata, "A dict for anything, kept as long as the node.");
  module.def("output_nr", output_nr, "Which result of its node a tensor is.");
  module.def("grad_fn", grad_fn, "The node that made a tensor; None for a leaf.");
}

}  // namespace keyway::inline v1::python
