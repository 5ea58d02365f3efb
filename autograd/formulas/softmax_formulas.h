// Helpers of the derivatives of softmax and cross entropy.
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

// The gradients of _cross_entropy_backward, whose result has gradient `grad`: that of its grad_output, and that of
// self, which counts that normalizer changes with it.
KEYWAY_API Tensor cross_entropy_backward_grad(const Tensor& grad, const Tensor& self, const Tensor& target,
                                              const Tensor& weight, std::int64_t reduction, std::int64_t ignore_index,
                                              const Tensor& total_weight);
KEYWAY_API Tensor cross_entropy_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self,
                                                const Tensor& target, const Tensor& weight, std::int64_t reduction,
                                                std::int64_t ignore_index, const Tensor& total_weight);

}  // namespace keyway::inline v1::autograd
