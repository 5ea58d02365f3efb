// DLPack: tensors handed to other libraries and taken from them without a copy.
#pragma once

#include <keyway/python/buffers.h>

namespace keyway::inline v1::python {

// Tensor.__dlpack__ and __dlpack_device__.
void add_dlpack_export(nanobind::module_& module);
// keyway.from_dlpack.
void add_dlpack_import(nanobind::module_& module);

// Whether `object` hands its memory out by DLPack.
bool has_dlpack(PyObject* object);
// A tensor over the memory of an object that has_dlpack, or of a capsule, which is taken then. Errors: Python's
// BufferError for what no tensor can be over; what the object throws.
ForeignTensor import_dlpack(PyObject* object);

}  // namespace keyway::inline v1::python
