// Broadcasting: the common shape of pointwise operands, and the order in which its result lies in memory.
#pragma once

#include <keyway/ops/rules/output_meta.h>

#include <initializer_list>

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
// Requires: at least one operand; the first is defined; undefined ones do not count. `meta` is fresh.
inline void pointwise_meta(std::initializer_list<const TensorBase*> operands, OutputMeta& meta) {
  const TensorBase& first = **operands.begin();
  bool alike = first.impl()->known_contiguous();
  for (const TensorBase* operand : operands) {
    alike = alike && operand->defined() && operand->impl()->known_contiguous() && operand->sizes() == first.sizes();
  }
  if (alike) [[likely]] {
    meta.sizes = first.sizes();
  } else {
    meta = detail::pointwise_meta_slowly({operands.begin(), operands.size()});
  }
}
inline OutputMeta pointwise_meta(std::initializer_list<const TensorBase*> operands) {
  OutputMeta meta;
  pointwise_meta(operands, meta);
  return meta;
}

}  // namespace keyway::inline v1
