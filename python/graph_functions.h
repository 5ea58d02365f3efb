// Calls that take functions of Python: control flow in graphs.
#pragma once

#include <keyway/python/module.h>

namespace keyway::inline v1::python {

// cond and while_loop, of functions that take a list of tensors and give one.
void add_graph_functions(nb::module_& module);

}  // namespace keyway::inline v1::python
