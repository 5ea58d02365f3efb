// Rules of convolutions. Their contracts have matched ranks, channels and lists, and excluded sizes that are not
// positive. A list of one number counts for all spatial dimensions.
#pragma once

#include <keyway/ops/rules/output_meta.h>

#include <array>
#include <optional>

namespace keyway::inline v1::rules {

// Channels last if the input is, or else the weight.
KEYWAY_API OutputMeta convolution(const TensorBase& input, const TensorBase& weight, const TensorBase& bias,
                                  IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
                                  IntArrayRef output_padding, std::int64_t groups);

// Gradients of input, weight and bias; those that the mask leaves out are undefined.
KEYWAY_API std::array<OutputMeta, 3> convolution_backward(const TensorBase& grad_output, const TensorBase& input,
                                                          const TensorBase& weight,
                                                          std::optional<IntArrayRef> bias_sizes, IntArrayRef stride,
                                                          IntArrayRef padding, IntArrayRef dilation, bool transposed,
                                                          IntArrayRef output_padding, std::int64_t groups,
                                                          ArrayRef<bool> output_mask);

}  // namespace keyway::inline v1::rules
