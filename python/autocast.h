// Autocast of keyway._C: what keyway.amp is made of.
#pragma once

#include <nanobind/nanobind.h>

namespace keyway::inline v1::python {

void add_autocast(nanobind::module_& module);

}  // namespace keyway::inline v1::python
