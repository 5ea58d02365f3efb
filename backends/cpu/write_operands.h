// What kernels share that change some elements of a copy of `self`: index_add, scatter, index_put.
#pragma once

#include <keyway/backends/cpu/copy.h>
#include <keyway/core/tensor/tensor_base.h>

namespace keyway::inline v1 {

// The first step, once every index is tested: `out` has self's elements. In place it is self.
inline void begin_as(const TensorBase& self, const TensorBase& out) {
  if (self.numel() == 0 || self.data_ptr() == out.data_ptr()) return;
  copy_elements(self, out);
}

// `input` itself, or a copy if it shares memory with what will be written.
inline TensorBase apart_from(const TensorBase& input, const TensorBase& out) {
  if (!input.is_alias_of(out)) return input;
  const TensorBase copy = make_tensor(input.sizes(), input.dtype(), DeviceType::CPU);
  copy_elements(input, copy);
  return copy;
}

// A tensor without dimensions as one with a dimension of size 1.
inline TensorBase with_dim(const TensorBase& tensor) {
  if (tensor.dim() > 0) return tensor;
  return make_view(tensor, {1}, {1}, tensor.storage_offset());
}

}  // namespace keyway::inline v1
