// Size: the tuple of integers that `x.shape` is: keyway.Size, a subclass of tuple.
#pragma once

#include <keyway/core/base/array_ref.h>
#include <keyway/python/nanobind.h>

namespace keyway::inline v1::python {

nb::object to_size(IntArrayRef sizes);

}  // namespace keyway::inline v1::python
