// Operands as kernels want them. Internal to backends/cuda.
#pragma once

#include <keyway/backends/cuda/kernels/copy_elements.h>
#include <keyway/core/tensor/tensor_base.h>

namespace keyway::inline v1::cuda {

// A tensor without dimensions as one with a dimension of size 1.
inline TensorBase with_dim(const TensorBase& tensor) {
  return tensor.dim() > 0 ? tensor : make_view(tensor, {1}, {1}, tensor.storage_offset());
}

// `tensor` itself if it is row-major and has that dtype, else a copy. An undefined tensor stays so.
inline TensorBase contiguous_as(const TensorBase& tensor, ScalarType dtype) {
  if (!tensor.defined() || (tensor.is_contiguous() && tensor.dtype() == dtype)) return tensor;
  const TensorBase copy = make_tensor(tensor.sizes(), dtype, tensor.device());
  copy_elements(tensor, copy);
  return copy;
}
// The same, with whatever strides.
inline TensorBase as_dtype(const TensorBase& tensor, ScalarType dtype) {
  return tensor.dtype() == dtype ? tensor : contiguous_as(tensor, dtype);
}
inline TensorBase contiguous(const TensorBase& tensor) {
  return tensor.defined() ? contiguous_as(tensor, tensor.dtype()) : tensor;
}

}  // namespace keyway::inline v1::cuda
