// What kernels share that change some elements of a copy of `self`: index_add, scatter, index_put. Internal to
// backends/cuda.
#pragma once

#include <keyway/backends/cuda/kernels/copy_elements.h>
#include <keyway/core/tensor/tensor_base.h>

namespace keyway::inline v1::cuda {

// The first step, once all indices are read: `out` has self's elements. In place it is self.
inline void begin_as(const TensorBase& self, const TensorBase& out) {
  if (self.numel() == 0 || self.data_ptr() == out.data_ptr()) return;
  copy_elements(self, out);
}

// `input` itself, or a copy if it shares memory with what will be written.
inline TensorBase apart_from(const TensorBase& input, const TensorBase& out) {
  if (input.numel() == 0 || !input.is_alias_of(out)) return input;
  const TensorBase copy = make_tensor(input.sizes(), input.dtype(), input.device());
  copy_elements(input, copy);
  return copy;
}

}  // namespace keyway::inline v1::cuda
