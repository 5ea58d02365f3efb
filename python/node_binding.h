// NodeBinding: what Python keeps of a node of the graph: its object, hooks, metadata, and of a Function its context;
// and how the garbage collector finds these.
#pragma once

#include <keyway/autograd/node.h>
#include <keyway/python/nanobind.h>

#include <vector>

namespace keyway::inline v1::python {

// All of it is guarded by the interpreter lock.
class PythonNodeBinding final : public autograd::NodeBinding {
 public:
  PythonNodeBinding();
  ~PythonNodeBinding() override;
  // The binding of a node; made if it has none.
  static PythonNodeBinding& of(autograd::Node& node);

  int traverse(visitproc visit, void* arg) const;
  // Whether any node has one.
  static bool exist();

  PyObject* object = nullptr;  // the keyway.autograd.graph.Node while there is one; not held, and maybe on its way out
  nb::object context;          // of a Function: what forward left for backward
  nb::object function;         // and its class
  nb::object metadata;
  nb::object pre_hooks;  // dicts of functions, as are the following
  nb::object post_hooks;
  std::vector<nb::object> tensor_hooks;  // of each output
};

// For tp_traverse: visits what nodes keep that nobody holds but the object of `tensor`, or of `node`. Requires: nobody
// else holds that either.
int visit_graph(const Tensor& tensor, visitproc visit, void* arg);
int visit_graph(const autograd::Node& node, visitproc visit, void* arg);

}  // namespace keyway::inline v1::python
