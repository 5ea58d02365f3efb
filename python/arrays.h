// Arrays of NumPy, and of others that say where their memory is, as tensors over that memory.
#pragma once

#include <keyway/python/buffers.h>

namespace keyway::inline v1::python {

// Whether `object` is an array or scalar of NumPy, or has an __array_interface__.
bool is_array(PyObject* object);

// A tensor over the memory of an array, which it keeps. Requires: is_array(object). Errors: Type for elements that no
// dtype describes; those of tensor_over.
ForeignTensor tensor_of_array(PyObject* object);

// Warns, as PyTorch does, that writes through the tensor would reach memory that is not to be written to.
void warn_if_read_only(const ForeignTensor& foreign);

}  // namespace keyway::inline v1::python
