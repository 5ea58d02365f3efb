// Wrapper tensors: tensors that are what their Python object says. They have sizes, strides, dtype, device and a
// version, and no memory; their key Python leads calls to the `__keyway_dispatch__` of their class (python_dispatch.h).
#pragma once

#include <keyway/python/nanobind.h>
#include <keyway/tensor.h>

namespace keyway::inline v1::python {

inline bool is_wrapper(const TensorBase& tensor) { return tensor.key_set().has(Functionality::Python); }

// The method by which a class answers calls; null if it has none.
PyObject* find_dispatch_method(PyTypeObject* type);
// Its name, for the length of the program.
PyObject* dispatch_method_name();

}  // namespace keyway::inline v1::python
