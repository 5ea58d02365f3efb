// Forward mode: what keyway/autograd/forward_ad.py and keyway/func.py are made of, as keyway._C._forward has it.
#pragma once

#include <nanobind/nanobind.h>

namespace keyway::inline v1::python {

void add_forward(nanobind::module_& module);

}  // namespace keyway::inline v1::python
