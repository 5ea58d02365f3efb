// Helpers of the derivatives of views, and of what joins and splits tensors.
#pragma once

#include <keyway/autograd/node.h>

#include <cstdint>
#include <optional>

namespace keyway::inline v1::autograd {

KEYWAY_API Tensor as_strided_backward(const Tensor& grad, IntArrayRef self_sizes, IntArrayRef self_strides,
                                      std::int64_t self_offset, IntArrayRef size, IntArrayRef stride,
                                      std::optional<std::int64_t> storage_offset);
// What was added is cut off, and what was cut off is 0.
KEYWAY_API Tensor constant_pad_nd_backward(const Tensor& grad, IntArrayRef pad);
KEYWAY_API Tensor diagonal_backward(const Tensor& grad, IntArrayRef sizes, std::int64_t offset, std::int64_t dim1,
                                    std::int64_t dim2);
KEYWAY_API Tensor permute_backwards(const Tensor& grad, IntArrayRef dims);
KEYWAY_API Tensor select_backward(const Tensor& grad, IntArrayRef sizes, std::int64_t dim, std::int64_t index);
KEYWAY_API Tensor slice_backward(const Tensor& grad, IntArrayRef sizes, std::int64_t dim,
                                 std::optional<std::int64_t> start, std::optional<std::int64_t> end, std::int64_t step);
KEYWAY_API Tensor unfold_backward(const Tensor& grad, IntArrayRef sizes, std::int64_t dim, std::int64_t size,
                                  std::int64_t step);

}  // namespace keyway::inline v1::autograd
