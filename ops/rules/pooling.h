// Rules of pooling. Their contracts have matched ranks and lists, and excluded windows that do not fit. Results keep
// channels last; those of a gradient have the sizes and format of `self`.
#pragma once

#include <keyway/ops/rules/output_meta.h>

#include <array>
#include <optional>

namespace keyway::inline v1::rules {

// Values and indices.
KEYWAY_API std::array<OutputMeta, 2> max_pool2d_with_indices(const TensorBase& self, IntArrayRef kernel_size,
                                                             IntArrayRef stride, IntArrayRef padding,
                                                             IntArrayRef dilation, bool ceil_mode);
KEYWAY_API std::array<OutputMeta, 2> max_pool3d_with_indices(const TensorBase& self, IntArrayRef kernel_size,
                                                             IntArrayRef stride, IntArrayRef padding,
                                                             IntArrayRef dilation, bool ceil_mode);
KEYWAY_API OutputMeta max_pool2d_with_indices_backward(const TensorBase& grad_output, const TensorBase& self,
                                                       IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                                                       IntArrayRef dilation, bool ceil_mode, const TensorBase& indices);
KEYWAY_API OutputMeta max_pool3d_with_indices_backward(const TensorBase& grad_output, const TensorBase& self,
                                                       IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                                                       IntArrayRef dilation, bool ceil_mode, const TensorBase& indices);

KEYWAY_API OutputMeta avg_pool2d(const TensorBase& self, IntArrayRef kernel_size, IntArrayRef stride,
                                 IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                                 std::optional<std::int64_t> divisor_override);
KEYWAY_API OutputMeta avg_pool3d(const TensorBase& self, IntArrayRef kernel_size, IntArrayRef stride,
                                 IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                                 std::optional<std::int64_t> divisor_override);
KEYWAY_API OutputMeta avg_pool2d_backward(const TensorBase& grad_output, const TensorBase& self,
                                          IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                                          bool ceil_mode, bool count_include_pad,
                                          std::optional<std::int64_t> divisor_override);
KEYWAY_API OutputMeta avg_pool3d_backward(const TensorBase& grad_output, const TensorBase& self,
                                          IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                                          bool ceil_mode, bool count_include_pad,
                                          std::optional<std::int64_t> divisor_override);

KEYWAY_API OutputMeta _adaptive_avg_pool2d(const TensorBase& self, IntArrayRef output_size);
KEYWAY_API OutputMeta _adaptive_avg_pool3d(const TensorBase& self, IntArrayRef output_size);
KEYWAY_API OutputMeta _adaptive_avg_pool2d_backward(const TensorBase& grad_output, const TensorBase& self);
KEYWAY_API OutputMeta _adaptive_avg_pool3d_backward(const TensorBase& grad_output, const TensorBase& self);

}  // namespace keyway::inline v1::rules
