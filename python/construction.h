// keyway.tensor and its like: tensors of what Python has.
#pragma once

#include <nanobind/nanobind.h>

namespace keyway::inline v1::python {

void add_construction(nanobind::module_& module);

}  // namespace keyway::inline v1::python
