#include <keyway/ops/rules/views.h>
#include <keyway/ops/view.h>
#include <keyway/ops/view_composites.h>

namespace keyway::inline v1::composite {

Tensor expand_as(const Tensor& self, const Tensor& other) { return self.expand(other.sizes()); }

Tensor reshape(const Tensor& self, IntArrayRef shape) {
  const DimVector sizes = infer_shape(shape, self.numel());
  if (view_strides(self.sizes(), self.strides(), sizes)) return self.view(sizes);
  return self.clone(MemoryFormat::Contiguous).view(sizes);
}

Tensor t(const Tensor& self) { return self.dim() < 2 ? self : self.transpose(0, 1); }

Tensor view_as(const Tensor& self, const Tensor& other) { return self.view(other.sizes()); }

}  // namespace keyway::inline v1::composite
