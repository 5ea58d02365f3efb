// Passes on graphs, for Python.
#pragma once

#include <keyway/graph/graph.h>
#include <keyway/python/module.h>

namespace keyway::inline v1::python {

// The graph in a Python object, and a Python object of a graph.
struct GraphObjects {
  const graph::Graph& (*graph_of)(nb::handle object);
  nb::object (*object_of)(graph::Graph graph);
};

// Functions that take graphs and give others.
void add_graph_passes(nb::module_& module, GraphObjects objects);

}  // namespace keyway::inline v1::python
