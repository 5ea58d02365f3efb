// Files of tensors, and the bytes of a tensor for those who pickle it.
#pragma once

#include <nanobind/nanobind.h>

namespace keyway::inline v1::python {

void add_serialization(nanobind::module_& module);

}  // namespace keyway::inline v1::python
