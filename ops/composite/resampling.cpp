// Images made larger or smaller, one dimension after the other.
#include <keyway/ops/all.h>
#include <keyway/ops/composite/cubic.h>
#include <keyway/ops/resampling_composites.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace keyway::inline v1::composite {

namespace {

using ScaleFactors = std::optional<ArrayRef<double>>;

// One dimension: how many places it has and is to have, and how far in the former two neighbours of the latter are
// apart.
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

// The numbers of places of the result, to be computed with in `dtype`.
Tensor places_of(const Axis& axis, const Tensor& input, ScalarType dtype) {
  return keyway::arange(axis.wanted, TensorOptions(input.device()).dtype(kLong)).to(dtype);
}

// What elements are weighed in.
ScalarType weight_dtype(const Tensor& input) { return input.dtype() == kDouble ? kDouble : kFloat; }

// Weights along a dimension of a tensor of `dims`.
Tensor along(const Tensor& weights, std::int64_t dim, std::int64_t dims) {
  DimVector sizes(static_cast<std::size_t>(dims), 1);
  sizes[static_cast<std::size_t>(dim)] = weights.numel();
  return weights.reshape(sizes);
}

// How far two neighbours of the result are apart in places of the input.
double step_of(const Axis& axis, bool align_corners) {
  if (!align_corners) return axis.step;
  return axis.wanted > 1 ? static_cast<double>(axis.size - 1) / static_cast<double>(axis.wanted - 1) : 0;
}

// Where in the input the places of the result lie, as numbers of places: centres of places lie on centres of as many.
Tensor centres(const Axis& axis, const Tensor& input, bool align_corners) {
  const Tensor places = places_of(axis, input, input.dtype());
  const double step = step_of(axis, align_corners);
  return align_corners ? places * step : (places + 0.5) * step - 0.5;
}

// The elements at whole numbers of places, times weights; beyond the border its own.
Tensor weighed_places(const Tensor& input, const Axis& axis, const Tensor& places, const Tensor& weights) {
  return input.index_select(axis.dim, places.clamp(0, axis.size - 1).to(kLong)) * along(weights, axis.dim, input.dim());
}

// Each place is weighed out of the two that it lies between.
Tensor resample_linear(const Tensor& input, const Axis& axis, bool align_corners) {
  if (axis.wanted == axis.size) return input;  // as in PyTorch, whatever the scale
  const Tensor at = centres(axis, input, align_corners).clamp(0, axis.size - 1);
  const Tensor first = at.floor(), behind = at - first;
  return weighed_places(input, axis, first, 1 - behind) + weighed_places(input, axis, first + 1, behind);
}

// Out of the two before it and the two behind it.
Tensor resample_cubic(const Tensor& input, const Axis& axis, bool align_corners) {
  const Tensor at = centres(axis, input, align_corners), first = at.floor();
  const std::array<Tensor, 4> weights = cubic_weights(at - first, kCubicSlope);
  return weighed_places(input, axis, first - 1, weights[0]) + weighed_places(input, axis, first, weights[1]) +
         weighed_places(input, axis, first + 1, weights[2]) + weighed_places(input, axis, first + 2, weights[3]);
}

// What an element weighs at distances from 0.
using Kernel = Tensor (*)(const Tensor& distance);

Tensor triangle_kernel(const Tensor& distance) { return (1 - distance).clamp(0); }
Tensor cubic_kernel(const Tensor& distance) {
  const Tensor beyond_near = keyway::where(distance < 2, cubic_far(distance, kAntialiasedCubicSlope), 0);
  return keyway::where(distance < 1, cubic_near(distance, kAntialiasedCubicSlope), beyond_near);
}

// Out of all that are within `support` of it, where distances count in places of the result if these are the larger
// ones: a product with a matrix of weights, of which each row adds up to 1.
Tensor resample_covering(const Tensor& input, const Axis& axis, bool align_corners, Kernel kernel, double support) {
  const double step = step_of(axis, align_corners), scale = std::max(step, 1.0), reach = support * scale;
  const Tensor centre = ((places_of(axis, input, input.dtype()) + 0.5) * step).unsqueeze(1);
  const Tensor places = places_of({axis.dim, axis.size, axis.size, 1}, input, input.dtype());
  const Tensor is_covered =
      (places >= (centre - reach + 0.5).floor()).logical_and(places < (centre + reach + 0.5).floor());
  const Tensor weights = keyway::where(is_covered, kernel((places - centre + 0.5).abs() / scale), 0);
  const Tensor shares = weights / weights.sum(1, true);
  return input.movedim(axis.dim, -1).matmul(shares.t()).movedim(-1, axis.dim);
}

// Images of bytes, as in PyTorch: in whole numbers, weights being multiples of a power of 2 that leaves them 15 bits.
// `resample` is linear, so that what it makes of unit vectors are the weights.
template <typename F>
Tensor resample_bytes(const Tensor& image, const Axis& axis, const F& resample) {
  if (axis.wanted == axis.size) return image;
  const Tensor units = keyway::eye(axis.size, TensorOptions().dtype(kDouble)).unsqueeze(0).unsqueeze(0);
  const Tensor weights = resample(units, Axis{3, axis.size, axis.wanted, axis.step})[0][0];
  const auto greatest = weights.max().item<double>();
  int bits = 0;
  while (bits < 22 && std::ldexp(greatest, bits + 1) + 0.5 < 0x1p15) ++bits;
  const Tensor scaled = weights * std::ldexp(1.0, bits);
  const Tensor whole = (scaled + keyway::sign(scaled) * 0.5).to(kInt);  // rounded, halves away from zero
  const Tensor sums = image.movedim(axis.dim, -1).to(kInt).matmul(whole.to(image.device())) + (1 << bits >> 1);
  return sums.bitwise_right_shift(bits).clamp(0, 255).to(kByte).movedim(-1, axis.dim);
}

// Resamples all dimensions but two, each with resample(input so far, axis); bytes from the last one on.
template <typename F>
Tensor each_axis(const Tensor& input, OptionalIntArrayRef output_size, const ScaleFactors& scale_factors,
                 const F& resample) {
  const bool is_bytes = input.dtype() == kByte;
  Tensor result = is_bytes ? input : input.to(weight_dtype(input));
  for (std::int64_t i = 2; i < input.dim(); ++i) {
    const std::int64_t dim = is_bytes ? input.dim() + 1 - i : i;
    const Axis axis = axis_of(input, dim, output_size, scale_factors);
    result = is_bytes ? resample_bytes(result, axis, resample) : resample(result, axis);
  }
  result = result.to(input.dtype());
  return result.is_alias_of(input) ? result.clone() : result;
}

// The elements of the places that each place of the result lies in, `offset` behind its beginning.
Tensor resample_nearest(const Tensor& input, OptionalIntArrayRef output_size, const ScaleFactors& scale_factors,
                        double offset) {
  Tensor result = input;
  for (std::int64_t dim = 2; dim < input.dim(); ++dim) {
    const Axis axis = axis_of(input, dim, output_size, scale_factors);
    const Tensor at = ((places_of(axis, input, kFloat) + offset) * axis.step).floor();
    result = result.index_select(dim, at.clamp(std::nullopt, axis.size - 1).to(kLong));
  }
  return result;
}

}  // namespace

Tensor upsample_nearest(const Tensor& input, OptionalIntArrayRef output_size, ScaleFactors scale_factors) {
  return resample_nearest(input, output_size, scale_factors, 0);
}

Tensor upsample_nearest_exact(const Tensor& input, OptionalIntArrayRef output_size, ScaleFactors scale_factors) {
  return resample_nearest(input, output_size, scale_factors, 0.5);
}

Tensor upsample_linear(const Tensor& input, OptionalIntArrayRef output_size, bool align_corners,
                       ScaleFactors scale_factors) {
  return each_axis(input, output_size, scale_factors,
                   [&](const Tensor& image, const Axis& axis) { return resample_linear(image, axis, align_corners); });
}

Tensor upsample_bicubic(const Tensor& input, OptionalIntArrayRef output_size, bool align_corners,
                        ScaleFactors scale_factors) {
  return each_axis(input, output_size, scale_factors,
                   [&](const Tensor& image, const Axis& axis) { return resample_cubic(image, axis, align_corners); });
}

Tensor upsample_bilinear_antialiased(const Tensor& input, OptionalIntArrayRef output_size, bool align_corners,
                                     ScaleFactors scale_factors) {
  return each_axis(input, output_size, scale_factors, [&](const Tensor& image, const Axis& axis) {
    return resample_covering(image, axis, align_corners, triangle_kernel, 1);
  });
}

Tensor upsample_bicubic_antialiased(const Tensor& input, OptionalIntArrayRef output_size, bool align_corners,
                                    ScaleFactors scale_factors) {
  return each_axis(input, output_size, scale_factors, [&](const Tensor& image, const Axis& axis) {
    return resample_covering(image, axis, align_corners, cubic_kernel, 2);
  });
}

}  // namespace keyway::inline v1::composite
