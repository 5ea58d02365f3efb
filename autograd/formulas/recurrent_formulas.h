// Helpers of the derivatives of recurrent layers.
#pragma once

#include <keyway/tensor.h>

#include <tuple>

namespace keyway::inline v1::autograd {

// Of _lstm_layer: for inputs, hx, cx and weight_hh, from gradients of all three results, of which some may be
// undefined.
KEYWAY_API std::tuple<Tensor, Tensor, Tensor, Tensor> lstm_layer_backward(
    const Tensor& grad_output, const Tensor& grad_cells, const Tensor& grad_gates, const Tensor& hx, const Tensor& cx,
    const Tensor& weight_hh, const Tensor& output, const Tensor& cells, const Tensor& gates, bool reverse,
    ArrayRef<bool> needs);

}  // namespace keyway::inline v1::autograd
