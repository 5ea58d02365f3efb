// Bounds on gradients, between backward() and step().
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/tensor.h>

#include <vector>

namespace keyway::inline v1::nn::utils {

// Scales the gradients of `parameters`, in place, so that their 2-norm, taken over all of them together, is at most
// `max_norm`. Returns the norm before. Throws keyway::Error if that is not finite and `error_if_nonfinite`.
KEYWAY_API double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm,
                                  bool error_if_nonfinite = false);

}  // namespace keyway::inline v1::nn::utils
