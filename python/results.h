// Results: what a boxed call leaves on the stack, as Python gets it.
#pragma once

#include <keyway/dispatch/registry/dispatcher.h>

#include <nanobind/nanobind.h>

namespace keyway::inline v1::python {

// The submodule of the classes that named results are of, called as the operators are.
void add_return_types(nanobind::module_& module);

// One result as it is, none as None, several as a tuple; a named one where the schema names them: `sort(x).values`.
nanobind::object results(const OperatorHandle& op, Stack& stack);

}  // namespace keyway::inline v1::python
