// Tensors over memory that belongs to somebody else: a NumPy array, a buffer, a DLPack capsule.
#pragma once

#include <keyway/core/tensor/tensor_base.h>

#include <memory>

namespace keyway::inline v1::python {

// Memory at `data` that `owner` keeps.
template <typename Owner>
DataPtr data_of(std::unique_ptr<Owner> owner, void* data) {
  return {data, owner.release(), [](void* context) { delete static_cast<Owner*>(context); }, DeviceType::CPU};
}

// A tensor over `data`, which owns the memory and points to the first element. Strides count elements. The storage
// cannot grow. Errors (Value): negative strides; an address that is no multiple of an element's size.
TensorBase tensor_over(DataPtr data, IntArrayRef sizes, IntArrayRef strides, ScalarType dtype);

// Strides in elements of strides in bytes. Errors (Value): one that is no multiple of an element's size.
DimVector strides_in_elements(IntArrayRef bytes, ScalarType dtype);

// The dtype of a kind of number ('b'ool, 'i'nt, 'u'int, 'f'loat, 'c'omplex) of `itemsize` bytes, if there is one.
std::optional<ScalarType> dtype_of(char kind, std::size_t itemsize);
// The dtype in the language of Python's struct, with NumPy's Z for complex numbers; null where there is nothing to say
// it with.
const char* format_of(ScalarType dtype);

}  // namespace keyway::inline v1::python
