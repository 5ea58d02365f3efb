// cat and flip: copies to another location.
#include <keyway/backends/cpu/copy_tile.h>
#include <keyway/backends/cpu/kernels_joining.h>
#include <keyway/backends/cpu/operands.h>
#include <keyway/backends/cpu/parallel.h>

#include <algorithm>

namespace keyway::inline v1::cpu {

void cat(ArrayRef<TensorBase> tensors, std::int64_t dim, TensorBase& out) {
  const auto at = static_cast<std::size_t>(dim);
  std::int64_t offset = out.storage_offset();
  for (const TensorBase& tensor : tensors) {
    if (tensor.dim() == 0 || tensor.dim() != out.dim()) continue;  // shape [0] goes with all
    if (tensor.numel() > 0) copy_elements(tensor, make_view(out, tensor.sizes(), out.strides(), offset));
    offset += tensor.sizes()[at] * out.strides()[at];
  }
}

// Row after row of the last dimension: `self` is read with negative strides along `dims`, from their ends.
void flip(const TensorBase& self, IntArrayRef dims, TensorBase& out) {
  if (self.numel() == 0) return;
  if (self.dim() == 0) return copy_elements(self, out);
  const ContiguousOut result(out);
  const IntArrayRef sizes = self.sizes();
  const auto item = static_cast<std::int64_t>(self.itemsize());
  DimVector strides = self.strides();
  const char* from = static_cast<const char*>(self.data_ptr());
  for (std::int64_t& stride : strides) stride *= item;
  for (const std::int64_t dim : dims) {
    std::int64_t& stride = strides[static_cast<std::size_t>(dim)];
    from += (sizes[static_cast<std::size_t>(dim)] - 1) * stride;
    stride = -stride;
  }
  const std::int64_t width = sizes.back(), rows = self.numel() / width;
  char* const to = result.data<char>();
  parallel_for(0, rows, std::max<std::int64_t>(1, 32768 / width), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const char* row = from;
      std::int64_t index = r;
      for (std::size_t d = sizes.size() - 1; d-- > 0;) {
        row += index % sizes[d] * strides[d];
        index /= sizes[d];
      }
      pack(to + r * width * item, {row, 0, strides.back()}, 1, width, item);
    }
  });
  result.finish();
}

}  // namespace keyway::inline v1::cpu
