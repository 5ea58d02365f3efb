// keyway.autograd.Function: differentiable operations that are written in Python.
#pragma once

#include <keyway/python/function_context.h>

namespace keyway::inline v1::python {

// The class FunctionCtx.
void add_function_context(nanobind::module_& module);
// Adds apply_function.
void add_function_node(nanobind::module_& module);

}  // namespace keyway::inline v1::python
