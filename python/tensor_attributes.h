// What tensors have in Python that is no operator: shape, dtype, device, grad, size(), data_ptr() ...
#pragma once

#include <nanobind/nanobind.h>

namespace keyway::inline v1::python {

// Adds them to the class Tensor. Requires: add_tensor_class.
void add_tensor_attributes(nanobind::module_& module);

}  // namespace keyway::inline v1::python
