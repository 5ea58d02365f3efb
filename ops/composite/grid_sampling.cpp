// Images and volumes, sampled at given coordinates.
#include <keyway/ops/all.h>
#include <keyway/ops/composite/cubic.h>
#include <keyway/ops/composite/gather_weighted.h>
#include <keyway/ops/grid_sampling_composites.h>

#include <array>

namespace keyway::inline v1::composite {

namespace {

enum class Mode : std::int64_t { Linear, Nearest, Cubic };
enum class Beyond : std::int64_t { Zeros, Border, Reflection };

// Folds coordinates back at the centres of the outer pixels, or at their edges, as often as it takes.
Tensor reflected(const Tensor& at, std::int64_t size, bool align_corners) {
  const double low = align_corners ? 0 : -0.5, span = static_cast<double>(align_corners ? size - 1 : size);
  if (span == 0) return keyway::zeros_like(at);
  const Tensor distance = (at - low).abs();
  const Tensor folds = (distance / span).floor();
  const Tensor rest = distance - folds * span;
  return keyway::where(folds == (folds / 2).floor() * 2, rest, span - rest) + low;
}

// Pixel coordinates, moved into the image, unless there is 0 beyond it.
Tensor moved_inside(const Tensor& pixels, std::int64_t size, Beyond beyond, bool align_corners) {
  if (beyond == Beyond::Zeros) return pixels;
  const Tensor inside = beyond == Beyond::Reflection ? reflected(pixels, size, align_corners) : pixels;
  return inside.clamp(0, size - 1);
}

// Coordinates from -1 to 1 in pixels: -1 and 1 are the centres of the outer pixels, or their edges.
Tensor to_pixels(const Tensor& at, std::int64_t size, bool align_corners) {
  const auto count = static_cast<double>(size);
  return align_corners ? (at + 1) * ((count - 1) / 2) : ((at + 1) * count - 1) / 2;
}

// What an element is a weighted sum of along some dimensions: indices [N, K, P], which count in elements from the first
// one and are -1 where there is none, and their weights.
struct Taps {
  Tensor indices, weights;
};

// Along one dimension: whole numbers [N, K, P], which may be beyond it.
Taps taps_along(std::int64_t size, const Tensor& numbers, const Tensor& weights) {
  const Tensor is_inside = (numbers >= 0).logical_and(numbers < size);
  // No weight either where there is nothing: it may be NaN, and its product with a gradient of 0 would be.
  return {keyway::where(is_inside, numbers, -1).to(kLong), keyway::where(is_inside, weights, 0)};
}

// The two pixels around each coordinate [N, 1, P], or the nearest one, or four.
Taps taps_around(const Tensor& at, std::int64_t size, Mode mode, Beyond beyond, bool align_corners) {
  // The grid has a gradient of the nearest elements, which is 0.
  if (mode == Mode::Nearest) return taps_along(size, at.detach().round(), at * 0 + 1);
  const Tensor first = at.detach().floor(), behind = at - first;
  if (mode == Mode::Linear)
    return taps_along(size, keyway::cat({first, first + 1}, 1), keyway::cat({1 - behind, behind}, 1));
  const std::array<Tensor, 4> weights = cubic_weights(behind, kCubicSlope);
  const Tensor numbers =
      moved_inside(keyway::cat({first - 1, first, first + 1, first + 2}, 1), size, beyond, align_corners);
  return taps_along(size, numbers, keyway::cat({weights[0], weights[1], weights[2], weights[3]}, 1));
}

// Those of a dimension and of `inner` ones behind it, which have that many elements: each with each.
Taps combined(const Taps& outer, const Taps& inner, std::int64_t elements) {
  const Tensor before = outer.indices.unsqueeze(2), behind = inner.indices.unsqueeze(1);
  const Tensor is_inside = (before >= 0).logical_and(behind >= 0);
  return {keyway::where(is_inside, before * elements + behind, -1).flatten(1, 2),
          (outer.weights.unsqueeze(2) * inner.weights.unsqueeze(1)).flatten(1, 2)};
}

}  // namespace

Tensor grid_sampler(const Tensor& input, const Tensor& grid, std::int64_t interpolation_mode, std::int64_t padding_mode,
                    bool align_corners) {
  const ScalarType dtype = input.dtype() == kDouble ? kDouble : kFloat;
  const Tensor image = input.to(dtype), coordinates = grid.to(dtype);
  const auto mode = static_cast<Mode>(interpolation_mode);
  const auto beyond = static_cast<Beyond>(padding_mode);
  const std::int64_t images = input.size(0), count = checked_numel(grid.sizes().slice(1, grid.sizes().size() - 2));
  Taps taps;
  std::int64_t elements = 1;
  // The grid's first number is that of the last dimension.
  for (std::int64_t axis = 0; axis < input.dim() - 2; ++axis) {
    const std::int64_t size = input.size(-1 - axis);
    Tensor at = to_pixels(coordinates.select(-1, axis).reshape({images, 1, count}), size, align_corners);
    if (mode != Mode::Cubic) at = moved_inside(at, size, beyond, align_corners);
    const Taps along = taps_around(at, size, mode, beyond, align_corners);
    taps = axis == 0 ? along : combined(along, taps, elements);
    elements = checked_numel({elements, size});
  }
  DimVector sizes = {images, input.size(1)};
  for (const std::int64_t size : grid.sizes().slice(1, grid.sizes().size() - 2)) sizes.push_back(size);
  return gather_weighted(image.reshape({images, input.size(1), elements, 1}), taps.indices.unsqueeze(1),
                         taps.weights.unsqueeze(1), false)
      .reshape(sizes)
      .to(input.dtype());
}

}  // namespace keyway::inline v1::composite
