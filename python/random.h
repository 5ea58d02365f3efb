// Random: keyway.Generator and the generators that operators use when they are given none.
#pragma once

#include <nanobind/nanobind.h>

namespace keyway::inline v1::python {

void add_random(nanobind::module_& module);

}  // namespace keyway::inline v1::python
