// Rules of operators that take elements by index.
#pragma once

#include <keyway/ops/rules/output_meta.h>

#include <cstdint>

namespace keyway::inline v1 {
class Scalar;
}

namespace keyway::inline v1::rules {

// Requires: weight has two dimensions.
KEYWAY_API OutputMeta embedding(const TensorBase& weight, const TensorBase& indices, std::int64_t padding_idx,
                                bool scale_grad_by_freq, bool sparse);
// Errors: several indices into a tensor without dimensions. Requires: index has at most one dimension.
KEYWAY_API OutputMeta index_select(const TensorBase& self, std::int64_t dim, const TensorBase& index);

KEYWAY_API OutputMeta embedding_dense_backward(const TensorBase& grad_output, const TensorBase& indices,
                                               std::int64_t num_weights, std::int64_t padding_idx,
                                               bool scale_grad_by_freq);
// Errors: `source` has not self's sizes, with the number of indices along `dim`. Requires: as index_select.
KEYWAY_API OutputMeta index_add(const TensorBase& self, std::int64_t dim, const TensorBase& index,
                                const TensorBase& source, const Scalar& alpha);
KEYWAY_API OutputMeta index_copy(const TensorBase& self, std::int64_t dim, const TensorBase& index,
                                 const TensorBase& source);

}  // namespace keyway::inline v1::rules
