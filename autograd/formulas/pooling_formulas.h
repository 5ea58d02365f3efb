// Helpers of the derivatives of pooling.
#pragma once

#include <keyway/tensor.h>

#include <cstdint>

namespace keyway::inline v1::autograd {

// The gradient of grad_output in the backward pass of a max pool over the last `dims` dimensions: each window's from
// the place that its greatest value was at.
KEYWAY_API Tensor max_pool_double_backward(const Tensor& grad, const Tensor& indices, std::int64_t dims);

}  // namespace keyway::inline v1::autograd
