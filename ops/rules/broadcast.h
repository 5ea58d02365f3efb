// Broadcasting: the common shape of pointwise operands, and the order in which its result lies in memory.
#pragma once

#include <keyway/ops/rules/output_meta.h>

namespace keyway::inline v1 {

// The shape that both broadcast to. Throws keyway::Error that shows both and the first dimension that
// differs.
KEYWAY_API DimVector broadcast_sizes(IntArrayRef a, IntArrayRef b);
// Whether `from` can be expanded to `to` as it is.
KEYWAY_API bool broadcasts_to(IntArrayRef from, IntArrayRef to);

namespace detail {
KEYWAY_API OutputMeta pointwise_meta_slowly(ArrayRef<const TensorBase*> operands);
}

// The rule of every pointwise operator: broadcast sizes; strides in the operands' order of dimensions.
// Requires: at least one operand; all defined.
inline OutputMeta pointwise_meta(ArrayRef<const TensorBase*> operands) {
  const TensorBase& first = *operands[0];
  bool alike = first.impl()->known_contiguous();
  for (const TensorBase* operand : operands.slice(1)) {
    alike = alike && operand->impl()->known_contiguous() && operand->sizes() == first.sizes();
  }
  if (alike) [[likely]]
    return meta_of(first.sizes());
  return detail::pointwise_meta_slowly(operands);
}

}  // namespace keyway::inline v1
