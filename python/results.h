// Results: what a boxed call leaves on the stack, as Python gets it.
#pragma once

#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/python/nanobind.h>

namespace keyway::inline v1::python {

// One result as it is, none as None, several as a tuple; a named one where the schema names them: `sort(x).values`.
nb::object results(const OperatorHandle& op, Stack& stack);

}  // namespace keyway::inline v1::python
