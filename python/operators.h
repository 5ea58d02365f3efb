// Operators: Python's names of all operators: functions, and methods of Tensor.
#pragma once

#include <nanobind/nanobind.h>

namespace keyway::inline v1::python {

// Adds the functions of kApiNames to the module and to its submodule `nn`, and the methods to Tensor.
void add_operators(nanobind::module_& module);

}  // namespace keyway::inline v1::python
