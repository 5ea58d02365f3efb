// Images and volumes, seen at given places.
#include <keyway/ops/all.h>
#include <keyway/ops/composite/cubic.h>
#include <keyway/ops/grid_sampling_composites.h>

#include <array>
#include <vector>

namespace keyway::inline v1::composite {

namespace {

enum class Mode : std::int64_t { Linear, Nearest, Cubic };
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

// Numbers of places that are within the image, unless there is 0 beyond it.
Tensor moved_inside(const Tensor& places, std::int64_t size, Beyond beyond, bool align_corners) {
  if (beyond == Beyond::Zeros) return places;
  const Tensor inside = beyond == Beyond::Reflection ? reflected(places, size, align_corners) : places;
  return inside.clamp(0, size - 1);
}

// Coordinates from -1 to 1 as numbers of places: these are the centres of the outer places, or their edges.
Tensor to_places(const Tensor& at, std::int64_t size, bool align_corners) {
  const auto count = static_cast<double>(size);
  return align_corners ? (at + 1) * ((count - 1) / 2) : ((at + 1) * count - 1) / 2;
}

// Places, each as a coordinate along each dimension of the image; the last dimension's is first.
using Coordinates = std::vector<Tensor>;

std::int64_t size_along(const Tensor& input, std::size_t axis) {
  return input.size(-1 - static_cast<std::int64_t>(axis));
}

// The elements at whole numbers [N, ...] of each channel, times weights; 0 where there is none.
Tensor weighed_elements(const Tensor& input, const Coordinates& at, const Tensor& weights) {
  Tensor is_there = keyway::ones_like(at[0], TensorOptions().dtype(kBool));
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    is_there = is_there.logical_and(at[axis] >= 0).logical_and(at[axis] < size_along(input, axis));
  }
  Tensor places = keyway::zeros_like(at[0], TensorOptions().dtype(kLong));
  for (std::size_t axis = at.size(); axis-- > 0;) {
    places = places * size_along(input, axis) + keyway::where(is_there, at[axis], 0).to(kLong);
  }
  const std::int64_t images = input.size(0), channels = input.size(1);
  const std::int64_t count = checked_numel(places.sizes().slice(1));
  DimVector sizes(places.sizes().begin(), places.sizes().end());
  sizes.insert(1, channels);
  const Tensor elements = input.reshape({images, channels, checked_numel(input.sizes().slice(2))})
                              .gather(2, places.reshape({images, 1, count}).expand({images, channels, count}))
                              .reshape(sizes);
  // No weight either where there is nothing: it may be NaN, and its product with a gradient of 0 would be.
  const Tensor share = keyway::where(is_there, weights, 0).unsqueeze(1);
  return keyway::where(is_there.unsqueeze(1), elements * share, 0);
}

// A weight for each place, or none yet.
Tensor with_weights(const Tensor& weights, const Tensor& more) { return weights.defined() ? weights * more : more; }

// Weighed out of the two places around each coordinate along `axis` and those that follow, where `corner` has whole
// numbers and `weights` those of the axes before.
Tensor weighed_linearly(const Tensor& input, const Coordinates& at, std::size_t axis, Coordinates& corner,
                        const Tensor& weights) {
  if (axis == at.size()) return weighed_elements(input, corner, weights);
  const Tensor first = at[axis].detach().floor(), behind = at[axis] - first;
  corner[axis] = first;
  const Tensor before = weighed_linearly(input, at, axis + 1, corner, with_weights(weights, 1 - behind));
  corner[axis] = first + 1;
  return before + weighed_linearly(input, at, axis + 1, corner, with_weights(weights, behind));
}

// Weighed out of four by four places of an image.
Tensor weighed_cubically(const Tensor& input, const Coordinates& at, Beyond beyond, bool align_corners) {
  std::array<Tensor, 4> places[2], weights[2];
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const Tensor first = at[axis].detach().floor();
    weights[axis] = cubic_weights(at[axis] - first, kCubicSlope);
    for (std::size_t i = 0; i < 4; ++i) {
      places[axis][i] =
          moved_inside(first + (static_cast<double>(i) - 1), size_along(input, axis), beyond, align_corners);
    }
  }
  Tensor sum;
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      const Tensor part =
          weighed_elements(input, {places[0][column], places[1][row]}, weights[0][column] * weights[1][row]);
      sum = sum.defined() ? sum + part : part;
    }
  }
  return sum;
}

}  // namespace

Tensor grid_sampler(const Tensor& input, const Tensor& grid, std::int64_t interpolation_mode, std::int64_t padding_mode,
                    bool align_corners) {
  const ScalarType dtype = input.dtype() == kDouble ? kDouble : kFloat;
  const Tensor image = input.to(dtype), coordinates = grid.to(dtype);
  const auto mode = static_cast<Mode>(interpolation_mode);
  const auto beyond = static_cast<Beyond>(padding_mode);
  Coordinates at;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(input.dim() - 2); ++axis) {
    const std::int64_t size = size_along(input, axis);
    at.push_back(to_places(coordinates.select(-1, static_cast<std::int64_t>(axis)), size, align_corners));
    if (mode != Mode::Cubic) at.back() = moved_inside(at.back(), size, beyond, align_corners);
  }
  if (mode == Mode::Cubic) return weighed_cubically(image, at, beyond, align_corners).to(input.dtype());
  if (mode == Mode::Nearest) {
    // The grid has a gradient, which is 0.
    const Tensor weights = at[0] * 0 + 1;
    for (Tensor& places : at) places = places.round();
    return weighed_elements(image, at, weights).to(input.dtype());
  }
  Coordinates corner(at.size());
  return weighed_linearly(image, at, 0, corner, {}).to(input.dtype());
}

}  // namespace keyway::inline v1::composite
