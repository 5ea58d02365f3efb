// Bounds on gradients, between backward() and step().
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/tensor.h>

#include <concepts>
#include <vector>

namespace keyway::inline v1::nn::utils {

// Scales the gradients of `parameters`, in place, so that their norm, taken over all of them together, is at most
// `max_norm`. Returns the norm before. An infinite `norm_type` is the greatest absolute value, or the least; 0 is how
// many of the gradients are not zero. Throws keyway::Error if `norm_type` is no number, and if the norm is not finite
// and `error_if_nonfinite`.
KEYWAY_API double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type = 2,
                                  bool error_if_nonfinite = false);
// What stands third is the norm's order.
template <std::same_as<bool> Flag>
double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, Flag error_if_nonfinite) = delete;

// The norm of all tensors together as if they were one vector, a float64 of no dimensions on the first one's device.
// Throws keyway::Error as clip_grad_norm_() does.
KEYWAY_API Tensor get_total_norm(const std::vector<Tensor>& tensors, double norm_type = 2,
                                 bool error_if_nonfinite = false);
// What stands second is the norm's order.
template <std::same_as<bool> Flag>
Tensor get_total_norm(const std::vector<Tensor>& tensors, Flag error_if_nonfinite) = delete;
// Scales the gradients of `parameters`, in place, so that their norm, which was `total_norm`, is at most `max_norm`.
KEYWAY_API void clip_grads_with_norm_(const std::vector<Tensor>& parameters, double max_norm, const Tensor& total_norm);
// Clamps every element of the gradients, of complex ones both parts, to [-clip_value, clip_value], in place.
KEYWAY_API void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value);

}  // namespace keyway::inline v1::nn::utils
