// nanobind, under its short name.
#pragma once

#include <nanobind/nanobind.h>

namespace keyway::inline v1::python {
namespace nb = nanobind;
}  // namespace keyway::inline v1::python
