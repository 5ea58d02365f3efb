// Rules of attention.
#pragma once

#include <keyway/ops/rules/output_meta.h>

#include <array>

namespace keyway::inline v1::rules {

// The heads of a query lie side by side, so that what comes after them can be a view; a logarithm for each.
inline std::array<OutputMeta, 2> _scaled_dot_product_attention_forward(const TensorBase& query, const TensorBase&,
                                                                       const TensorBase& value, const TensorBase&, bool,
                                                                       double) {
  const IntArrayRef q = query.sizes();
  const std::int64_t heads = q[1], queries = q[2], width = value.sizes()[3];
  OutputMeta output = meta_of({q[0], heads, queries, width});
  if (checked_numel(output.sizes) > 0) output.strides = DimVector{queries * heads * width, width, heads * width, 1};
  return {output, meta_of({q[0], heads, queries})};
}

inline std::array<OutputMeta, 3> _scaled_dot_product_attention_backward(const TensorBase&, const TensorBase& query,
                                                                        const TensorBase& key, const TensorBase& value,
                                                                        const TensorBase&, bool, double,
                                                                        const TensorBase&, const TensorBase&) {
  return {meta_like(query), meta_like(key), meta_like(value)};
}

}  // namespace keyway::inline v1::rules
