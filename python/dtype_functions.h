// What is asked about dtypes: the default one, promotion, casts.
#pragma once

#include <nanobind/nanobind.h>

namespace keyway::inline v1::python {

void add_dtype_functions(nanobind::module_& module);

}  // namespace keyway::inline v1::python
