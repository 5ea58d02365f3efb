// Helpers of the derivatives of pointwise operators.
#pragma once

#include <keyway/autograd/node.h>

#include <optional>
#include <string_view>

namespace keyway::inline v1::autograd {

// The complex conjugate; of a real tensor itself.
KEYWAY_API Tensor conj(const Tensor& self);

// Of clamp's self: nothing where it was held.
KEYWAY_API Tensor clamp_backward(const Tensor& grad, const Tensor& self, const std::optional<Scalar>& min,
                                 const std::optional<Scalar>& max);
// The gradients of gelu_backward's and silu_backward's `self`.
KEYWAY_API Tensor gelu_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self,
                                       std::string_view approximate);
KEYWAY_API Tensor silu_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self);

}  // namespace keyway::inline v1::autograd
