#include <keyway/ops/rules/pooling.h>
#include <keyway/ops/rules/predicates.h>

namespace keyway::inline v1::rules {

namespace {

// `self` with other sizes in the last `rank` dimensions.
OutputMeta with_spatial(const TensorBase& self, std::size_t rank, IntArrayRef spatial) {
  DimVector sizes(self.sizes().slice(0, self.sizes().size() - rank));
  for (std::size_t d = 0; d < rank; ++d) sizes.push_back(spatial[spatial.size() == 1 ? 0 : d]);
  return meta_of(sizes, self.suggest_memory_format());
}

OutputMeta pooled(const TensorBase& self, std::size_t rank, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,
                  IntArrayRef dilation, bool ceil_mode) {
  return with_spatial(
      self, rank,
      contract::pool_sizes(self.sizes().slice(self.sizes().size() - rank), kernel, stride.empty() ? kernel : stride,
                           padding, dilation, ceil_mode, "pool_sizes"));
}

OutputMeta like(const TensorBase& self) { return meta_of(self.sizes(), self.suggest_memory_format()); }

}  // namespace

std::array<OutputMeta, 2> max_pool2d_with_indices(const TensorBase& self, IntArrayRef kernel_size, IntArrayRef stride,
                                                  IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  const OutputMeta meta = pooled(self, 2, kernel_size, stride, padding, dilation, ceil_mode);
  return {meta, meta};
}
std::array<OutputMeta, 2> max_pool3d_with_indices(const TensorBase& self, IntArrayRef kernel_size, IntArrayRef stride,
                                                  IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  const OutputMeta meta = pooled(self, 3, kernel_size, stride, padding, dilation, ceil_mode);
  return {meta, meta};
}
OutputMeta max_pool2d_with_indices_backward(const TensorBase&, const TensorBase& self, IntArrayRef, IntArrayRef,
                                            IntArrayRef, IntArrayRef, bool, const TensorBase&) {
  return like(self);
}
OutputMeta max_pool3d_with_indices_backward(const TensorBase&, const TensorBase& self, IntArrayRef, IntArrayRef,
                                            IntArrayRef, IntArrayRef, bool, const TensorBase&) {
  return like(self);
}

OutputMeta avg_pool2d(const TensorBase& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                      bool ceil_mode, bool, std::optional<std::int64_t>) {
  return pooled(self, 2, kernel_size, stride, padding, {1}, ceil_mode);
}
OutputMeta avg_pool3d(const TensorBase& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                      bool ceil_mode, bool, std::optional<std::int64_t>) {
  return pooled(self, 3, kernel_size, stride, padding, {1}, ceil_mode);
}
OutputMeta avg_pool2d_backward(const TensorBase&, const TensorBase& self, IntArrayRef, IntArrayRef, IntArrayRef, bool,
                               bool, std::optional<std::int64_t>) {
  return like(self);
}
OutputMeta avg_pool3d_backward(const TensorBase&, const TensorBase& self, IntArrayRef, IntArrayRef, IntArrayRef, bool,
                               bool, std::optional<std::int64_t>) {
  return like(self);
}

OutputMeta _adaptive_avg_pool2d(const TensorBase& self, IntArrayRef output_size) {
  return with_spatial(self, 2, output_size);
}
OutputMeta _adaptive_avg_pool3d(const TensorBase& self, IntArrayRef output_size) {
  return with_spatial(self, 3, output_size);
}
OutputMeta _adaptive_avg_pool2d_backward(const TensorBase&, const TensorBase& self) { return like(self); }
OutputMeta _adaptive_avg_pool3d_backward(const TensorBase&, const TensorBase& self) { return like(self); }

}  // namespace keyway::inline v1::rules
