// DLPack: tensors handed to other libraries and taken from them without a copy.
#pragma once

#include <keyway/python/buffers.h>

namespace keyway::inline v1::python {

// Whether `object` hands its memory out by DLPack.
bool has_dlpack(PyObject* object);
// A tensor over the memory of an object that has_dlpack, or of a capsule, which is taken then. Errors: Python's
// BufferError for what no tensor can be over; what the object throws.
ForeignTensor import_dlpack(PyObject* object);

}  // namespace keyway::inline v1::python
