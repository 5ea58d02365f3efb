// What the memory of a NumPy array, of a buffer or of a DLPack capsule says of itself, in words of tensors
// (core/tensor/foreign_memory.h).
#pragma once

#include <keyway/core/tensor/foreign_memory.h>

#include <cstddef>
#include <optional>

namespace keyway::inline v1::python {

// Strides in elements of strides in bytes. Errors (Value): one that is no multiple of an element's size.
DimVector strides_in_elements(IntArrayRef bytes, ScalarType dtype);

// The dtype of a kind of number ('b'ool, 'i'nt, 'u'int, 'f'loat, 'c'omplex) of `itemsize` bytes, if there is one.
std::optional<ScalarType> dtype_of(char kind, std::size_t itemsize);
// The dtype in the language of Python's struct, with NumPy's Z for complex numbers; null where there is nothing to say
// it with.
const char* format_of(ScalarType dtype);

}  // namespace keyway::inline v1::python
