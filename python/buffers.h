// The buffer protocol: tensors over the memory of objects that have it, and a tensor's memory for others.
#pragma once

#include <keyway/core/tensor/tensor_base.h>
#include <keyway/python/errors.h>

#include <string>

namespace keyway::inline v1::python {

// Throws Python's BufferError.
[[noreturn]] inline void refuse_buffer(const std::string& why) { throw_python_error(PyExc_BufferError, why.c_str()); }

// A tensor over memory of Python's side, and whether the owner forbids writing to it.
struct ForeignTensor {
  TensorBase tensor;
  bool read_only = false;
};

// A tensor over the elements of a buffer, which it keeps. Errors: Type for elements that no dtype describes; those of
// tensor_over; Python's if there is no buffer.
ForeignTensor tensor_of_buffer(PyObject* object);
// A tensor of one dimension over `count` elements of `dtype` (-1: all) from byte `offset` on, whatever the buffer says
// of its elements. Errors: Value, as those of keyway.frombuffer.
ForeignTensor tensor_of_bytes(PyObject* object, ScalarType dtype, std::int64_t count, std::int64_t offset);

}  // namespace keyway::inline v1::python
