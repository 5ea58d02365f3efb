// Copies with conversion between any two dtypes, strides and broadcasting included.
#pragma once

#include <keyway/core/tensor/tensor_base.h>

namespace keyway::inline v1 {

// dst = src, element by element, converted as Cast (ops/functors/copy.h) says; src broadcasts to dst's sizes.
// Dtypes that are equal are copied bit by bit, whatever they are. Requires: both on the CPU; src broadcasts
// to dst's sizes; no two elements of dst share memory; src shares none with dst, or lies exactly on it with
// the same dtype. Throws keyway::Error(Type) where one of two different dtypes is no number (quantized,
// bits).
KEYWAY_API void copy_elements(const TensorBase& src, const TensorBase& dst);

}  // namespace keyway::inline v1
