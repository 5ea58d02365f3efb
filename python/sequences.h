// Tensors of numbers and nested sequences.
#pragma once

#include <keyway/core/tensor/tensor_base.h>
#include <keyway/python/nanobind.h>

#include <optional>

namespace keyway::inline v1::python {

// A new tensor on the CPU with the numbers of `data`: one, or sequences of sequences of them, which may hold arrays.
// Without `dtype`, it is the one that all elements fit: bool, int64, the default dtype, its complex dtype, and those of
// arrays and tensors among them. Errors: Value for sequences of different lengths, numbers that the dtype does not
// hold; Type for what is no number.
TensorBase tensor_of_sequence(PyObject* data, std::optional<ScalarType> dtype);

}  // namespace keyway::inline v1::python
