// Threads: how many of them kernels of the CPU use.
#pragma once

#include <nanobind/nanobind.h>

namespace keyway::inline v1::python {

void add_threads(nanobind::module_& module);

}  // namespace keyway::inline v1::python
