// Helpers of the derivatives of softmax.
#pragma once

#include <keyway/tensor.h>

namespace keyway::inline v1::autograd {

// The gradients of _softmax_backward_data and _log_softmax_backward_data, whose result has gradient `grad`:
// that of their grad_output, and that of their output.
KEYWAY_API Tensor softmax_backward_grad(const Tensor& grad, std::int64_t dim, const Tensor& output);
KEYWAY_API Tensor softmax_double_backward(const Tensor& grad, const Tensor& grad_output, std::int64_t dim,
                                          const Tensor& output);
KEYWAY_API Tensor log_softmax_backward_grad(const Tensor& grad, std::int64_t dim, const Tensor& output);
KEYWAY_API Tensor log_softmax_double_backward(const Tensor& grad, const Tensor& grad_output, std::int64_t dim,
                                              const Tensor& output);

}  // namespace keyway::inline v1::autograd
