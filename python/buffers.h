// The buffer protocol: tensors over the memory of objects that have it, and a tensor's memory for others.
#pragma once

#include <keyway/core/tensor/tensor_base.h>

#include <nanobind/nanobind.h>

namespace keyway::inline v1::python {

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

// Gives Tensor the protocol: memoryview(tensor), where a buffer can describe it.
void add_buffer_protocol();

}  // namespace keyway::inline v1::python
