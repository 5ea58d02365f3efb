#include <keyway/ops/rules/output_meta.h>

#include <algorithm>

namespace keyway::inline v1 {

namespace {

// Whether the strides are those that a new tensor of these sizes has; those of dimensions of size 1 count, too. Sizes
// multiply to more than 64 bits only where there is no element; such strides are none of a new tensor.
bool has_default_strides(const TensorBase& self) {
  std::int64_t expected = 1;
  bool overflow = false;
  for (std::size_t d = self.sizes().size(); d-- > 0;) {
    if (overflow || self.strides()[d] != expected) return false;
    overflow = __builtin_mul_overflow(expected, std::max<std::int64_t>(self.sizes()[d], 1), &expected);
  }
  return true;
}

}  // namespace

// What was found out about the strides before must not matter: a flag that says contiguous is no shortcut here.
OutputMeta meta_like(const TensorBase& self) {
  if (has_default_strides(self) || !self.is_non_overlapping_and_dense()) return meta_of(self.sizes());
  return {DimVector(self.sizes()), DimVector(self.strides()), true};
}

OutputMeta meta_of_new(IntArrayRef sizes, std::optional<bool> pin_memory) {
  if (!pin_memory.value_or(false)) return meta_of(sizes);
  return {DimVector(sizes), contiguous_strides(sizes), true, true};
}

OutputMeta meta_of(IntArrayRef sizes, MemoryFormat format) {
  if (format == MemoryFormat::Contiguous) return meta_of(sizes);
  return {DimVector(sizes), strides_for(sizes, format), true};
}

}  // namespace keyway::inline v1
