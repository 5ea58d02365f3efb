// Images made larger or smaller, one dimension after the other.
#include <keyway/core/keys/thread_state.h>
#include <keyway/ops/all.h>
#include <keyway/ops/composite/cubic.h>
#include <keyway/ops/composite/gather_weighted.h>
#include <keyway/ops/composite/opmath.h>
#include <keyway/ops/resampling_composites.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace keyway::inline v1::composite {

namespace {

using ScaleFactors = std::optional<ArrayRef<double>>;

// One dimension: its size and the size wanted, and how far apart neighbours of the result are in the input.
struct Axis {
  std::int64_t dim = 0, size = 0, wanted = 0;
  double step = 1;
};

Axis axis_of(const Tensor& input, std::int64_t dim, OptionalIntArrayRef output_size,
             const ScaleFactors& scale_factors) {
  const auto at = static_cast<std::size_t>(dim - 2);
  const std::int64_t size = input.size(dim);
  KEYWAY_CHECK(size > 0, "dimension {} of the input is empty", dim);
  Axis axis{dim, size, 0, 1};
  if (scale_factors) {
    const double wanted = std::floor(static_cast<double>(size) * (*scale_factors)[at]);
    KEYWAY_CHECK(wanted < 0x1p62, "dimension {} of size {} cannot be scaled by {}", dim, size, (*scale_factors)[at]);
    axis.wanted = static_cast<std::int64_t>(wanted);
    axis.step = 1 / (*scale_factors)[at];
  } else {
    axis.wanted = (*output_size)[at];
    axis.step = static_cast<double>(size) / static_cast<double>(axis.wanted);
  }
  KEYWAY_CHECK(axis.wanted > 0, "dimension {} of the result would be empty", dim);
  return axis;
}

// The numbers 0, 1, ... of the dtype and the device of `like`.
Tensor numbers_to(std::int64_t count, const Tensor& like) {
  return keyway::arange(count, TensorOptions(like.device()).dtype(kLong)).to(like.dtype());
}

// What elements are weighed in.
ScalarType weight_dtype(const Tensor& input) { return input.dtype() == kDouble ? kDouble : kFloat; }

// How far two neighbours of the result are apart in pixels of the input.
double step_of(const Axis& axis, bool align_corners) {
  if (!align_corners) return axis.step;
  return axis.wanted > 1 ? static_cast<double>(axis.size - 1) / static_cast<double>(axis.wanted - 1) : 0;
}

// Where the pixels of the result lie in the input, in its pixels: their centres lie half a pixel behind their edges.
Tensor centres(const Axis& axis, bool align_corners, const Tensor& like) {
  const Tensor pixels = numbers_to(axis.wanted, like);
  const double step = step_of(axis, align_corners);
  return align_corners ? pixels * step : (pixels + 0.5) * step - 0.5;
}

// What each pixel of the result is a weighted sum of: indices in the input, none twice, and their weights, both
// [count, wanted].
struct Window {
  Tensor indices, weights;
};

// `count` indices from `first` on, of the input alone.
Tensor indices_from(const Axis& axis, const Tensor& first, std::int64_t count) {
  return first.clamp(0, axis.size - count) + numbers_to(count, first).unsqueeze(1);
}

// Weights [count, wanted] of the indices from `first` on, those beyond the border being its own.
Window bordered(const Axis& axis, const Tensor& first, const Tensor& weights) {
  const std::int64_t count = weights.size(0);
  const Tensor meant = (first + numbers_to(count, first).unsqueeze(1)).clamp(0, axis.size - 1);
  const Tensor indices = indices_from(axis, first, std::min(count, axis.size));
  return {indices, ((indices.unsqueeze(1) == meant) * weights).sum(1)};
}

// The two that the coordinate lies between.
Window linear_window(const Axis& axis, bool align_corners, const Tensor& like) {
  const Tensor at = centres(axis, align_corners, like).clamp(0, axis.size - 1), first = at.floor();
  return bordered(axis, first, keyway::stack({1 - (at - first), at - first}));
}

// The two before it and the two behind it.
Window cubic_window(const Axis& axis, bool align_corners, const Tensor& like) {
  const Tensor at = centres(axis, align_corners, like), before = at.floor();
  return bordered(axis, before - 1, keyway::stack(cubic_weights(at - before, kCubicSlope)));
}

// What an element weighs at distances from 0.
using Kernel = Tensor (*)(const Tensor& distance);

Tensor triangle_kernel(const Tensor& distance) { return (1 - distance).clamp(0); }
Tensor cubic_kernel(const Tensor& distance) {
  const Tensor beyond_near = keyway::where(distance < 2, cubic_far(distance, kAntialiasedCubicSlope), 0);
  return keyway::where(distance < 1, cubic_near(distance, kAntialiasedCubicSlope), beyond_near);
}

// All that are within `support` of it, where distances count in pixels of the result if these are the larger ones. The
// weights add up to 1.
Window covering_window(const Axis& axis, bool align_corners, Kernel kernel, double support, const Tensor& like) {
  const double step = step_of(axis, align_corners), scale = std::max(step, 1.0), reach = support * scale;
  const Tensor centre = (numbers_to(axis.wanted, like) + 0.5) * step;
  const Tensor first = (centre - reach + 0.5).floor(), end = (centre + reach + 0.5).floor();
  const double widest = std::min(2 * std::ceil(reach) + 1, static_cast<double>(axis.size));
  const Tensor indices = indices_from(axis, first, static_cast<std::int64_t>(widest));
  const Tensor is_covered = (indices >= first).logical_and(indices < end);
  const Tensor weights = keyway::where(is_covered, kernel((indices - centre + 0.5).abs() / scale), 0);
  return {indices, weights / weights.sum(0, true)};
}

// Sums of the window's elements along `dim`, times their weights.
Tensor weighted_sum(const Tensor& image, std::int64_t dim, const Window& window) {
  const auto at = static_cast<std::size_t>(dim);
  const DimVector listed = {1, 1, window.indices.size(0), window.indices.size(1)};
  const Tensor indices = window.indices.to(kLong).to(image.device()).reshape(listed);
  const Tensor weights = window.weights.to(image.device()).reshape(listed);
  DimVector sizes(image.sizes());
  const std::int64_t before = checked_numel(image.sizes().slice(0, at)), size = sizes[at],
                     behind = checked_numel(image.sizes().slice(at + 1));
  sizes[at] = listed[3];
  return gather_weighted(image.reshape({1, before, size, behind}), indices, weights, true).reshape(sizes);
}

// Bytes, as in PyTorch: in whole numbers, weights being multiples of a power of 2 that leaves them 15 bits.
Tensor weighted_sum_of_bytes(const Tensor& image, std::int64_t dim, const Window& window) {
  const auto greatest = window.weights.max().item<double>();
  int bits = 0;
  while (bits < 22 && std::ldexp(greatest, bits + 1) + 0.5 < 0x1p15) ++bits;
  const Tensor scaled = window.weights * std::ldexp(1.0, bits);
  const Tensor whole = (scaled + keyway::sign(scaled) * 0.5).to(kInt);  // rounded, halves away from zero
  const Tensor sums = weighted_sum(image.to(kInt), dim, {window.indices, whole}) + (1 << bits >> 1);
  return sums.bitwise_right_shift(bits).clamp(0, 255).to(kByte);
}

// Resamples all dimensions but two, the last one first, each by window_of(axis, tensor of the dtype and on the device
// of weights), but those whose size stays, if they are `kept`. Channels that lie side by side stay so.
template <typename F>
Tensor each_axis(const Tensor& input, OptionalIntArrayRef output_size, const ScaleFactors& scale_factors, bool kept,
                 const F& window_of) {
  const bool bytes = input.dtype() == kByte, channels_last = input.suggest_memory_format() != MemoryFormat::Contiguous;
  const Tensor like = keyway::empty(
      {0}, bytes ? TensorOptions().dtype(kDouble) : TensorOptions(input.device()).dtype(weight_dtype(input)));
  Tensor result = bytes ? input : input.to(weight_dtype(input));
  if (channels_last) result = result.movedim(1, -1);
  for (std::int64_t dim = input.dim(); dim-- > 2;) {
    const Axis axis = axis_of(input, dim, output_size, scale_factors);
    if ((bytes || kept) && axis.wanted == axis.size) continue;
    const Window window = window_of(axis, like);
    const std::int64_t at = channels_last ? dim - 1 : dim;
    result = bytes ? weighted_sum_of_bytes(result, at, window) : weighted_sum(result, at, window);
  }
  if (channels_last) result = result.movedim(-1, 1);
  result = result.to(input.dtype());
  return result.is_alias_of(input) ? result.clone() : result;
}

// The elements of the pixels that each pixel of the result lies in, `offset` behind its beginning.
Tensor resample_nearest(const Tensor& input, OptionalIntArrayRef output_size, const ScaleFactors& scale_factors,
                        double offset) {
  const Tensor like = keyway::empty({0}, TensorOptions(input.device()).dtype(kFloat));
  // Gradients are added up in one dimension after the other, and rounded once.
  Tensor result = input.requires_grad() && grad_enabled() ? to_opmath(input) : input;
  for (std::int64_t dim = 2; dim < input.dim(); ++dim) {
    const Axis axis = axis_of(input, dim, output_size, scale_factors);
    const Tensor at = ((numbers_to(axis.wanted, like) + offset) * axis.step).floor();
    result = result.index_select(dim, at.clamp(std::nullopt, axis.size - 1).to(kLong));
  }
  return narrowed(result, input.dtype());
}

}  // namespace

Tensor upsample_nearest(const Tensor& input, OptionalIntArrayRef output_size, ScaleFactors scale_factors) {
  return resample_nearest(input, output_size, scale_factors, 0);
}

Tensor upsample_nearest_exact(const Tensor& input, OptionalIntArrayRef output_size, ScaleFactors scale_factors) {
  return resample_nearest(input, output_size, scale_factors, 0.5);
}

// A size that stays leaves elements as they are, whatever the scale, as in PyTorch.
Tensor upsample_linear(const Tensor& input, OptionalIntArrayRef output_size, bool align_corners,
                       ScaleFactors scale_factors) {
  return each_axis(input, output_size, scale_factors, true,
                   [&](const Axis& axis, const Tensor& like) { return linear_window(axis, align_corners, like); });
}

Tensor upsample_bicubic(const Tensor& input, OptionalIntArrayRef output_size, bool align_corners,
                        ScaleFactors scale_factors) {
  return each_axis(input, output_size, scale_factors, false,
                   [&](const Axis& axis, const Tensor& like) { return cubic_window(axis, align_corners, like); });
}

Tensor upsample_bilinear_antialiased(const Tensor& input, OptionalIntArrayRef output_size, bool align_corners,
                                     ScaleFactors scale_factors) {
  return each_axis(input, output_size, scale_factors, false, [&](const Axis& axis, const Tensor& like) {
    return covering_window(axis, align_corners, triangle_kernel, 1, like);
  });
}

Tensor upsample_bicubic_antialiased(const Tensor& input, OptionalIntArrayRef output_size, bool align_corners,
                                    ScaleFactors scale_factors) {
  return each_axis(input, output_size, scale_factors, false, [&](const Axis& axis, const Tensor& like) {
    return covering_window(axis, align_corners, cubic_kernel, 2, like);
  });
}

}  // namespace keyway::inline v1::composite
