#include <keyway/ops/rules/output_meta.h>

namespace keyway::inline v1 {

OutputMeta meta_like(const TensorBase& self) {
  if (self.impl()->known_contiguous() || !self.is_non_overlapping_and_dense()) return meta_of(self.sizes());
  return {DimVector(self.sizes()), DimVector(self.strides()), true};
}

OutputMeta meta_of(IntArrayRef sizes, MemoryFormat format) {
  if (format == MemoryFormat::Contiguous) return meta_of(sizes);
  return {DimVector(sizes), strides_for(sizes, format), true};
}

}  // namespace keyway::inline v1
