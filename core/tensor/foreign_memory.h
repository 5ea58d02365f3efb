// Tensors over memory that belongs to somebody else.
#pragma once

#include <keyway/core/device/allocator.h>
#include <keyway/core/tensor/tensor_base.h>

#include <memory>

namespace keyway::inline v1 {

// Memory at `data` that `owner` keeps.
template <typename Owner>
DataPtr data_of(std::unique_ptr<Owner> owner, void* data, Device device = DeviceType::CPU) {
  return {data, owner.release(), [](void* context) { delete static_cast<Owner*>(context); }, device};
}

// A tensor over `data`, which owns the memory and points to the first element. Strides count elements. The storage
// cannot grow. Errors (Value): negative strides; an address that is no multiple of an element's size.
KEYWAY_API TensorBase tensor_over(DataPtr data, IntArrayRef sizes, IntArrayRef strides, ScalarType dtype);

}  // namespace keyway::inline v1
