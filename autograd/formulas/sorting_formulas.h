// Helpers of the derivatives of sorting and cumulative operators.
#pragma once

#include <keyway/tensor.h>

namespace keyway::inline v1::autograd {

// Of operators whose values are elements of self, at `indices` along `dim`: sort, topk, max. Without `keepdim`
// the dimension is missing in grad and indices.
KEYWAY_API Tensor value_selecting_backward(const Tensor& grad, std::int64_t dim, const Tensor& indices,
                                           IntArrayRef sizes, bool keepdim = true);
KEYWAY_API Tensor cumsum_backward(const Tensor& grad, std::int64_t dim);
KEYWAY_API Tensor cumprod_backward(const Tensor& grad, const Tensor& self, std::int64_t dim);
KEYWAY_API Tensor logcumsumexp_backward(const Tensor& grad, const Tensor& self, const Tensor& result, std::int64_t dim);

}  // namespace keyway::inline v1::autograd
