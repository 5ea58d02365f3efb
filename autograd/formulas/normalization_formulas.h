// Helpers of the derivatives of normalisation.
#pragma once

#include <keyway/tensor.h>

#include <tuple>

namespace keyway::inline v1::autograd {

// The gradients of native_layer_norm_backward's grad_out, input and weight. `grad_input`, `grad_weight` and
// `grad_bias` are the gradients of its results; undefined ones are zero.
KEYWAY_API std::tuple<Tensor, Tensor, Tensor> layer_norm_double_backward(
    const Tensor& grad_input, const Tensor& grad_weight, const Tensor& grad_bias, const Tensor& grad_out,
    const Tensor& input, IntArrayRef normalized_shape, const Tensor& mean, const Tensor& rstd, const Tensor& weight,
    ArrayRef<bool> needs);

// The gradients of _batch_norm_forward's input, weight and bias, those that are needed. `grad_mean` and `grad_var` are
// the gradients of its other results; undefined ones are zero.
KEYWAY_API std::tuple<Tensor, Tensor, Tensor> batch_norm_backward(const Tensor& grad_out, const Tensor& grad_mean,
                                                                  const Tensor& grad_var, const Tensor& input,
                                                                  const Tensor& mean, const Tensor& var,
                                                                  const Tensor& weight, double eps,
                                                                  ArrayRef<bool> needs);
// As layer_norm_double_backward, of _batch_norm_backward.
KEYWAY_API std::tuple<Tensor, Tensor, Tensor> batch_norm_double_backward(
    const Tensor& grad_input, const Tensor& grad_weight, const Tensor& grad_bias, const Tensor& grad_out,
    const Tensor& input, const Tensor& mean, const Tensor& var, const Tensor& weight, double eps, ArrayRef<bool> needs);

}  // namespace keyway::inline v1::autograd
