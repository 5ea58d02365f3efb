// Decompositions of operators, for Python.
#pragma once

#include <keyway/python/graph_passes.h>

namespace keyway::inline v1::python {

void add_graph_decompositions(nb::module_& module, GraphObjects objects);

}  // namespace keyway::inline v1::python
