// Helpers of the derivatives of pointwise operators.
#pragma once

#include <keyway/autograd/node.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>

namespace keyway::inline v1::autograd {

// Adds `term` to a sum; undefined stands for zero.
KEYWAY_API void add_term(Tensor& sum, const Tensor& term);
// The complex conjugate; of a real tensor itself.
KEYWAY_API Tensor conj(const Tensor& self);

// Of clamp's self: nothing where it was held.
KEYWAY_API Tensor clamp_backward(const Tensor& grad, const Tensor& self, const std::optional<Scalar>& min,
                                 const std::optional<Scalar>& max);
// Of clamp's self, min and max, those that `needs` asks for: each where it is the result, and of equal ones self. An
// undefined bound is none.
KEYWAY_API std::tuple<Tensor, Tensor, Tensor> clamp_backward(const Tensor& grad, const Tensor& self, const Tensor& min,
                                                             const Tensor& max, ArrayRef<bool> needs);
// Of binary_cross_entropy's target. An undefined weight is none.
KEYWAY_API Tensor binary_cross_entropy_target_backward(const Tensor& grad, const Tensor& self, const Tensor& weight,
                                                       std::int64_t reduction);
// Of pow's exponent: nothing where 0 was raised to what is not negative.
KEYWAY_API Tensor pow_backward_exponent(const Tensor& grad, const Tensor& self, const Tensor& exponent,
                                        const Tensor& result);
KEYWAY_API Tensor pow_backward_exponent(const Tensor& grad, const Scalar& self, const Tensor& exponent,
                                        const Tensor& result);
// Of sgn: nothing for real numbers, and for complex ones what turns them.
KEYWAY_API Tensor sgn_backward(const Tensor& grad, const Tensor& self, const Tensor& result);
// The gradients of gelu_backward's and silu_backward's `self`.
KEYWAY_API Tensor gelu_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self,
                                       std::string_view approximate);
// The gradient of elu_backward's `self_or_result`, from the product of both gradients.
KEYWAY_API Tensor elu_double_backward(const Tensor& grad, const Scalar& alpha, const Scalar& scale,
                                      const Scalar& input_scale, bool is_result, const Tensor& self_or_result);
// The gradient of mish_backward's `self`, from the product of both gradients.
KEYWAY_API Tensor mish_double_backward(const Tensor& grad, const Tensor& self);
KEYWAY_API Tensor silu_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self);
// Have derivatives of every order at 0, too, but that what exp(-abs(self)) has there is taken for the mean of both
// sides.
KEYWAY_API Tensor special_i1_backward(const Tensor& grad, const Tensor& self, const Tensor& result);
KEYWAY_API Tensor special_i1e_backward(const Tensor& grad, const Tensor& self, const Tensor& result);
KEYWAY_API Tensor special_log_ndtr_backward(const Tensor& grad, const Tensor& self);

}  // namespace keyway::inline v1::autograd
