// Hooks: Python functions that are called with gradients. Those of one tensor or node stand in a dict, which a handle
// takes its own out of; the graph has one C++ function for the dict.
#pragma once

#include <nanobind/nanobind.h>

namespace keyway::inline v1::python {

// A dict that handles can refer to weakly.
nanobind::object new_hook_dict();
// Adds gradient_hooks and post_accumulate_hooks of tensors, and those of nodes.
void add_hooks(nanobind::module_& module);

}  // namespace keyway::inline v1::python
