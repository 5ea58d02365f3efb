// NodeObject: the Python object of a node: `x.grad_fn`. A node has one as long as anybody holds that, and its metadata
// as long as itself.
#pragma once

#include <keyway/autograd/node.h>
#include <keyway/python/nanobind.h>

namespace keyway::inline v1::python {

struct NodeObject {
  NodeObject(intrusive_ptr<autograd::Node> of, PyObject* object) : node(std::move(of)), self(object) {}
  ~NodeObject();
  NodeObject(const NodeObject&) = delete;
  NodeObject& operator=(const NodeObject&) = delete;

  // Throws if the garbage collector has taken the node.
  autograd::Node& live() const;

  intrusive_ptr<autograd::Node> node;
  PyObject* self;
};

// None for no node.
nb::object to_object(const intrusive_ptr<autograd::Node>& node);

}  // namespace keyway::inline v1::python
