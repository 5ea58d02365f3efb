// What keyway.library is made of: registrations from Python, each in force at once, and undone together.
#pragma once

#include <nanobind/nanobind.h>

namespace keyway::inline v1::python {

// Adds the class _Registrations.
void add_library(nanobind::module_& module);

}  // namespace keyway::inline v1::python
