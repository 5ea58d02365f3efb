// Helpers of the derivatives of convolution.
#pragma once

#include <keyway/tensor.h>

#include <tuple>

namespace keyway::inline v1::autograd {

// The gradients of convolution_backward's grad_output, input and weight. `grad_input`, `grad_weight` and `grad_bias`
// are the gradients of its results; undefined ones are zero.
KEYWAY_API std::tuple<Tensor, Tensor, Tensor> convolution_double_backward(
    const Tensor& grad_input, const Tensor& grad_weight, const Tensor& grad_bias, const Tensor& grad_output,
    const Tensor& input, const Tensor& weight, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
    bool transposed, IntArrayRef output_padding, std::int64_t groups, ArrayRef<bool> needs);

}  // namespace keyway::inline v1::autograd
