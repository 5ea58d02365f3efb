// Size: the tuple of integers that `x.shape` is: keyway.Size, a subclass of tuple.
#pragma once

#include <keyway/core/base/array_ref.h>

#include <nanobind/nanobind.h>

namespace keyway::inline v1::python {

void add_size_class(nanobind::module_& module);
nanobind::object to_size(IntArrayRef sizes);

}  // namespace keyway::inline v1::python
