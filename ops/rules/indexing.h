// Rules of operators that take elements by index.
#pragma once

#include <keyway/ops/rules/output_meta.h>

#include <cstdint>

namespace keyway::inline v1::rules {

// Requires: weight has two dimensions.
KEYWAY_API OutputMeta embedding(const TensorBase& weight, const TensorBase& indices, std::int64_t padding_idx,
                                bool scale_grad_by_freq, bool sparse);
// Errors: several indices into a tensor without dimensions. Requires: index has at most one dimension.
KEYWAY_API OutputMeta index_select(const TensorBase& self, std::int64_t dim, const TensorBase& index);

}  // namespace keyway::inline v1::rules
