// cat and flip: copies to another location. Bound by memory: each element is read and written once, in vectors where
// both sides allow it. Of cat each tensor is a launch of its own.
#include <keyway/backends/cuda/kernels/copy_elements.h>
#include <keyway/backends/cuda/kernels/kernels_joining.h>

namespace keyway::inline v1::cuda {

void cat(ArrayRef<TensorBase> tensors, std::int64_t dim, TensorBase& out) {
  const auto at = static_cast<std::size_t>(dim);
  std::int64_t offset = out.storage_offset();
  for (const TensorBase& tensor : tensors) {
    if (tensor.dim() == 0 || tensor.dim() != out.dim()) continue;  // shape [0] goes with all
    if (tensor.numel() > 0) copy_elements(tensor, make_view(out, tensor.sizes(), out.strides(), offset));
    offset += tensor.sizes()[at] * out.strides()[at];
  }
}

// `self` is read with negative strides along `dims`, from their ends.
void flip(const TensorBase& self, IntArrayRef dims, TensorBase& out) {
  if (self.numel() == 0) return;
  if (self.dim() == 0) return copy_elements(self, out);
  DimVector strides = self.strides();
  std::int64_t begin = self.storage_offset();
  for (const std::int64_t dim : dims) {
    const auto d = static_cast<std::size_t>(dim);
    begin += (self.sizes()[d] - 1) * strides[d];
    strides[d] = -strides[d];
  }
  copy_elements(make_view(self, self.sizes(), strides, begin), out);
}

}  // namespace keyway::inline v1::cuda
