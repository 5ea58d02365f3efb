// Helpers of the derivatives of attention.
#pragma once

#include <keyway/tensor.h>

#include <tuple>

namespace keyway::inline v1::autograd {

// The gradient of _scaled_dot_product_attention_forward's attn_mask, if it has numbers.
KEYWAY_API Tensor attention_mask_backward(const Tensor& grad, const Tensor& query, const Tensor& key,
                                          const Tensor& value, const Tensor& attn_mask, bool is_causal, double scale);

// The gradients of _scaled_dot_product_attention_backward's grad_output, query, key, value and attn_mask, which count
// that its output and logsumexp change with them. The first three arguments are the gradients of its results; undefined
// ones are zero.
KEYWAY_API std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> attention_double_backward(
    const Tensor& grad_query, const Tensor& grad_key, const Tensor& grad_value, const Tensor& grad_output,
    const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask, bool is_causal, double scale,
    ArrayRef<bool> needs);

}  // namespace keyway::inline v1::autograd
