// Helpers of the derivatives of reductions. An absent or empty `dim` means all dimensions.
#pragma once

#include <keyway/autograd/node.h>
#include <keyway/core/base/optional_array_ref.h>

#include <optional>

namespace keyway::inline v1::autograd {

// `grad` of a reduction, with its dimensions back and expanded to `sizes`.
KEYWAY_API Tensor expand_reduced(const Tensor& grad, IntArrayRef sizes, OptionalIntArrayRef dim = std::nullopt,
                                 bool keepdim = false);
KEYWAY_API Tensor mean_backward(const Tensor& grad, IntArrayRef sizes, OptionalIntArrayRef dim = std::nullopt,
                                bool keepdim = false);
// Of amax, amin, max and min: where several elements are the extremum, they share the gradient evenly.
KEYWAY_API Tensor amax_backward(const Tensor& grad, const Tensor& self, const Tensor& result, OptionalIntArrayRef dim,
                                bool keepdim);
// The gradient times the product of the other elements, which is right where some are zero.
KEYWAY_API Tensor prod_backward(const Tensor& grad, const Tensor& self, OptionalIntArrayRef dim = std::nullopt,
                                bool keepdim = false);
// Of the root of the sum of squares; 0 where that is 0.
KEYWAY_API Tensor euclidean_norm_backward(const Tensor& grad, const Tensor& self, const Tensor& result,
                                          OptionalIntArrayRef dim, bool keepdim);
KEYWAY_API Tensor var_backward(const Tensor& grad, const Tensor& self, OptionalIntArrayRef dim,
                               const std::optional<Scalar>& correction, bool keepdim);
// Nothing where the deviation is 0.
KEYWAY_API Tensor std_backward(const Tensor& grad, const Tensor& self, const Tensor& result, OptionalIntArrayRef dim,
                               const std::optional<Scalar>& correction, bool keepdim);
// Of a variance, or a deviation, and the mean. An undefined gradient is zero.
KEYWAY_API Tensor var_mean_backward(const Tensor& grad_var, const Tensor& grad_mean, const Tensor& self,
                                    OptionalIntArrayRef dim, const std::optional<Scalar>& correction, bool keepdim);
KEYWAY_API Tensor std_mean_backward(const Tensor& grad_std, const Tensor& grad_mean, const Tensor& self,
                                    const Tensor& deviation, OptionalIntArrayRef dim,
                                    const std::optional<Scalar>& correction, bool keepdim);
// `grad` summed to `sizes`, which broadcast to its own.
KEYWAY_API Tensor sum_to(const Tensor& grad, IntArrayRef sizes);

}  // namespace keyway::inline v1::autograd
