// Helpers of the derivatives of pointwise operators.
#pragma once

#include <keyway/autograd/node.h>

#include <string_view>

namespace keyway::inline v1::autograd {

// The complex conjugate; of a real tensor itself.
KEYWAY_API Tensor conj(const Tensor& self);

// The gradients of gelu_backward's and silu_backward's `self`.
KEYWAY_API Tensor gelu_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self,
                                       std::string_view approximate);
KEYWAY_API Tensor silu_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self);

}  // namespace keyway::inline v1::autograd
