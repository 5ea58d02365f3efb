// Helpers of derivative formulas: gradients that take more than an expression. They are written with public operators
// that are differentiable themselves, so that a gradient's own gradient follows.
//
// Their types, as formulas see them, stand in codegen/expr/formula_helpers.cpp. `grad` is the gradient of the
// result, `sizes` are those of the input that the helper computes a gradient for. A gradient may have more dimensions,
// or sizes where the input has 1: the engine sums those away.
#pragma once

#include <keyway/autograd/formula_words.h>
#include <keyway/autograd/indexing_formulas.h>
#include <keyway/autograd/node.h>
#include <keyway/autograd/normalization_formulas.h>
#include <keyway/autograd/softmax_formulas.h>
#include <keyway/core/base/optional_array_ref.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

namespace keyway::inline v1::autograd {

// --- Pointwise

// The complex conjugate; of a real tensor itself.
KEYWAY_API Tensor conj(const Tensor& self);

// --- Reductions. An absent or empty `dim` means all dimensions.

// `grad` of a reduction, with its dimensions back and expanded to `sizes`.
KEYWAY_API Tensor expand_reduced(const Tensor& grad, IntArrayRef sizes, OptionalIntArrayRef dim = std::nullopt,
                                 bool keepdim = false);
KEYWAY_API Tensor mean_backward(const Tensor& grad, IntArrayRef sizes, OptionalIntArrayRef dim = std::nullopt,
                                bool keepdim = false);
// Of amax, amin, max and min: where several elements are the extremum, they share the gradient evenly.
KEYWAY_API Tensor amax_backward(const Tensor& grad, const Tensor& self, const Tensor& result, OptionalIntArrayRef dim,
                                bool keepdim);
// `grad` summed to `sizes`, which broadcast to its own.
KEYWAY_API Tensor sum_to(const Tensor& grad, IntArrayRef sizes);

// --- Shapes

KEYWAY_API Tensor as_strided_backward(const Tensor& grad, IntArrayRef self_sizes, IntArrayRef self_strides,
                                      std::int64_t self_offset, IntArrayRef size, IntArrayRef stride,
                                      std::optional<std::int64_t> storage_offset);
KEYWAY_API Tensor permute_backwards(const Tensor& grad, IntArrayRef dims);
KEYWAY_API Tensor select_backward(const Tensor& grad, IntArrayRef sizes, std::int64_t dim, std::int64_t index);
KEYWAY_API Tensor slice_backward(const Tensor& grad, IntArrayRef sizes, std::int64_t dim,
                                 std::optional<std::int64_t> start, std::optional<std::int64_t> end, std::int64_t step);

// --- Indexing

KEYWAY_API Tensor index_select_backward(const Tensor& grad, IntArrayRef sizes, std::int64_t dim, const Tensor& index);

}  // namespace keyway::inline v1::autograd
