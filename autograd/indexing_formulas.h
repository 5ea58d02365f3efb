// Helpers of the derivatives of indexing.
#pragma once

#include <keyway/autograd/node.h>

#include <cstdint>

namespace keyway::inline v1::autograd {

KEYWAY_API Tensor index_select_backward(const Tensor& grad, IntArrayRef sizes, std::int64_t dim, const Tensor& index);
// Rows of `grad` added where `indices` say, in a matrix of `num_weights` rows; none for `padding_idx`.
KEYWAY_API Tensor embedding_dense_backward(const Tensor& grad, const Tensor& indices, std::int64_t num_weights,
                                           std::int64_t padding_idx, bool scale_grad_by_freq);

}  // namespace keyway::inline v1::autograd
