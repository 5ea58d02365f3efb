// Images on another grid: larger or smaller, or seen at given places.
#include <keyway/ops/all.h>
#include <keyway/ops/resampling_composites.h>

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

// Each place is weighed out of the two that it lies between, of which the last one may stand twice.
Tensor resample_linear(const Tensor& input, const Axis& axis, bool align_corners) {
  if (axis.wanted == axis.size) return input;  // as in PyTorch, whatever the scale
  const Tensor places = places_of(axis, input, input.dtype());
  const double between_ends =
      axis.wanted > 1 ? static_cast<double>(axis.size - 1) / static_cast<double>(axis.wanted - 1) : 0;
  const Tensor at = align_corners ? places * between_ends : ((places + 0.5) * axis.step - 0.5).clamp(0);
  const Tensor first = at.floor().clamp(std::nullopt, axis.size - 1);
  const Tensor weights = along((at - first).clamp(0, 1), axis.dim, input.dim());
  const Tensor before = first.to(kLong), behind = (before + 1).clamp(std::nullopt, axis.size - 1);
  return input.index_select(axis.dim, before) * (1 - weights) + input.index_select(axis.dim, behind) * weights;
}

}  // namespace

Tensor upsample_nearest(const Tensor& input, OptionalIntArrayRef output_size, ScaleFactors scale_factors) {
  Tensor result = input;
  for (std::int64_t dim = 2; dim < input.dim(); ++dim) {
    const Axis axis = axis_of(input, dim, output_size, scale_factors);
    const Tensor at = (places_of(axis, input, kFloat) * axis.step).floor().clamp(std::nullopt, axis.size - 1);
    result = result.index_select(dim, at.to(kLong));
  }
  return result;
}

Tensor upsample_linear(const Tensor& input, OptionalIntArrayRef output_size, bool align_corners,
                       ScaleFactors scale_factors) {
  Tensor result = input.to(weight_dtype(input));
  for (std::int64_t dim = 2; dim < input.dim(); ++dim) {
    result = resample_linear(result, axis_of(input, dim, output_size, scale_factors), align_corners);
  }
  result = result.to(input.dtype());
  return result.is_alias_of(input) ? result.clone() : result;
}

namespace {

enum class Beyond : std::int64_t { Zeros, Border, Reflection };

// Folds coordinates back at the centres of the outer places, or at their edges, as often as it takes.
Tensor reflected(const Tensor& at, std::int64_t size, bool align_corners) {
  const double low = align_corners ? 0 : -0.5, span = static_cast<double>(align_corners ? size - 1 : size);
  if (span == 0) return keyway::zeros_like(at);
  const Tensor distance = (at - low).abs();
  const Tensor turns = (distance / span).floor();
  const Tensor rest = distance - turns * span;
  return keyway::where(turns == (turns / 2).floor() * 2, rest, span - rest) + low;
}

// Coordinates from -1 to 1 as numbers of places: these are the centres of the outer places, or their edges.
Tensor to_places(const Tensor& at, std::int64_t size, Beyond beyond, bool align_corners) {
  const auto count = static_cast<double>(size);
  const Tensor places = align_corners ? (at + 1) * ((count - 1) / 2) : ((at + 1) * count - 1) / 2;
  if (beyond == Beyond::Zeros) return places;
  const Tensor inside = beyond == Beyond::Reflection ? reflected(places, size, align_corners) : places;
  return inside.clamp(0, size - 1);
}

// The elements at whole numbers x and y [N, H, W] of each channel, times weights; 0 where there is none.
Tensor weighed_elements(const Tensor& input, const Tensor& x, const Tensor& y, const Tensor& weights) {
  const std::int64_t height = input.size(2), width = input.size(3);
  const Tensor is_there = (x >= 0).logical_and(x < width).logical_and(y >= 0).logical_and(y < height);
  const auto index = [&](const Tensor& at) { return keyway::where(is_there, at, 0).to(kLong); };
  const Tensor places = (index(y) * width + index(x)).reshape({x.size(0), 1, checked_numel({x.size(1), x.size(2)})});
  const Tensor elements = input.reshape({input.size(0), input.size(1), height * width})
                              .gather(2, places.expand({input.size(0), input.size(1), places.size(2)}))
                              .reshape({input.size(0), input.size(1), x.size(1), x.size(2)});
  // No weight either where there is nothing: it may be NaN, and its product with a gradient of 0 would be.
  const Tensor share = keyway::where(is_there, weights, 0).unsqueeze(1);
  return keyway::where(is_there.unsqueeze(1), elements * share, 0);
}

}  // namespace

Tensor grid_sampler_2d(const Tensor& input, const Tensor& grid, std::int64_t interpolation_mode,
                       std::int64_t padding_mode, bool align_corners) {
  const ScalarType dtype = weight_dtype(input);
  const Tensor image = input.to(dtype), at = grid.to(dtype);
  const auto beyond = static_cast<Beyond>(padding_mode);
  const Tensor x = to_places(at.select(-1, 0), input.size(3), beyond, align_corners);
  const Tensor y = to_places(at.select(-1, 1), input.size(2), beyond, align_corners);
  if (interpolation_mode == 1) {
    return weighed_elements(image, x.round(), y.round(), keyway::ones_like(x)).to(input.dtype());
  }
  const Tensor left = x.detach().floor(), top = y.detach().floor();
  const Tensor to_right = x - left, down = y - top;
  const auto part = [&](bool right, bool below) {
    return weighed_elements(image, left + (right ? 1 : 0), top + (below ? 1 : 0),
                            (right ? to_right : 1 - to_right) * (below ? down : 1 - down));
  };
  return (part(false, false) + part(true, false) + part(false, true) + part(true, true)).to(input.dtype());
}

}  // namespace keyway::inline v1::composite
