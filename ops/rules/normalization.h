// Rules of normalisation.
#pragma once

#include <keyway/ops/rules/output_meta.h>

#include <array>

namespace keyway::inline v1::rules {

// Mean and variance are those of the channels.
KEYWAY_API std::array<OutputMeta, 3> _batch_norm_forward(const TensorBase& input, const TensorBase& weight,
                                                         const TensorBase& bias, double eps);
// Gradients that `output_mask` leaves out are undefined.
KEYWAY_API std::array<OutputMeta, 3> _batch_norm_backward(const TensorBase& grad_out, const TensorBase& input,
                                                          const TensorBase& mean, const TensorBase& var,
                                                          const TensorBase& weight, double eps,
                                                          ArrayRef<bool> output_mask);
// Mean and reciprocal standard deviation keep the normalised dimensions with size 1.
KEYWAY_API std::array<OutputMeta, 3> native_layer_norm(const TensorBase& input, IntArrayRef normalized_shape,
                                                       const TensorBase& weight, const TensorBase& bias, double eps);
// Gradients that `output_mask` leaves out are undefined.
KEYWAY_API std::array<OutputMeta, 3> native_layer_norm_backward(const TensorBase& grad_out, const TensorBase& input,
                                                                IntArrayRef normalized_shape, const TensorBase& mean,
                                                                const TensorBase& rstd, const TensorBase& weight,
                                                                const TensorBase& bias, ArrayRef<bool> output_mask);

}  // namespace keyway::inline v1::rules
