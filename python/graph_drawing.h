// Pictures and times of graphs, for the classes of keyway._C._graph.
#pragma once

#include <keyway/graph/graph.h>
#include <keyway/python/nanobind.h>

namespace keyway::inline v1::python {

// Adds to_dot, to_html, boxes, measure and difference to the class Graph of the module, call_count to that of captures,
// and the class Timings to the module. `graph_of` gives what an object of the class holds.
void add_graph_drawing(nb::module_& module, const graph::Graph& (*graph_of)(nb::handle));

}  // namespace keyway::inline v1::python
