#include <keyway/nn/functional/vision.h>
#include <keyway/ops/all.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string_view>

namespace keyway::inline v1::nn::functional {

namespace {

using Sizes = std::optional<std::vector<std::int64_t>>;
using Scales = std::optional<std::vector<double>>;

bool is_smooth(const std::string& mode) {
  return mode == "linear" || mode == "bilinear" || mode == "trilinear" || mode == "bicubic";
}

void check(const InterpolateFuncOptions& options) {
  const std::string& mode = options.mode();
  KEYWAY_CHECK(is_smooth(mode) || !options.align_corners(),
               "interpolate: align_corners is for the linear and cubic modes, not for '{}'", mode);
  KEYWAY_CHECK(!options.antialias() || mode == "bilinear" || mode == "bicubic",
               "interpolate: antialias is for the modes 'bilinear' and 'bicubic', not for '{}'", mode);
  KEYWAY_CHECK(options.size().has_value() != options.scale_factor().has_value(),
               "interpolate: either size or scale_factor is given");
  KEYWAY_CHECK(!options.size() || !options.recompute_scale_factor().value_or(false),
               "interpolate: recompute_scale_factor is for a scale_factor, not for a size");
}

// One number for each dimension behind the first two.
template <typename T>
std::vector<T> of_dims(const std::vector<T>& given, const Tensor& input, const char* name) {
  const auto dims = static_cast<std::size_t>(input.dim() - 2);
  if (given.size() == 1) return std::vector<T>(dims, given[0]);
  KEYWAY_CHECK(given.size() == dims, "interpolate: {} has {} numbers, but the input {} dimensions", name, given.size(),
               input.dim());
  return given;
}

Tensor smooth(const Tensor& input, const InterpolateFuncOptions& options, OptionalIntArrayRef sizes,
              std::optional<ArrayRef<double>> scales) {
  const std::string& mode = options.mode();
  const std::int64_t dims = input.dim();
  const bool corners = options.align_corners().value_or(false);
  if (mode == "linear" && dims == 3) return upsample_linear1d(input, sizes, corners, scales);
  if (mode == "bilinear" && dims == 4) {
    return options.antialias() ? _upsample_bilinear2d_aa(input, sizes, corners, scales)
                               : upsample_bilinear2d(input, sizes, corners, scales);
  }
  if (mode == "bicubic" && dims == 4) {
    return options.antialias() ? _upsample_bicubic2d_aa(input, sizes, corners, scales)
                               : upsample_bicubic2d(input, sizes, corners, scales);
  }
  if (mode == "trilinear" && dims == 5) return upsample_trilinear3d(input, sizes, corners, scales);
  KEYWAY_FAIL(Value, "interpolate: there is no mode '{}' for an input of {} dimensions", mode, dims);
}

}  // namespace

Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& options) {
  check(options);
  const std::string& mode = options.mode();
  const std::int64_t dims = input.dim();
  KEYWAY_CHECK(dims >= 3 && dims <= 5, "interpolate: an input has 3 to 5 dimensions, not {}", dims);
  Sizes sizes;
  Scales scales;
  if (options.size()) sizes = of_dims(*options.size(), input, "size");
  if (options.scale_factor()) scales = of_dims(*options.scale_factor(), input, "scale_factor");
  if (scales && (options.recompute_scale_factor().value_or(false) || mode == "area")) {
    sizes.emplace();
    for (std::size_t i = 0; i < scales->size(); ++i) {
      sizes->push_back(static_cast<std::int64_t>(std::floor(static_cast<double>(input.sizes()[i + 2]) * (*scales)[i])));
    }
    scales.reset();
  }
  const OptionalIntArrayRef goal = sizes ? OptionalIntArrayRef(IntArrayRef(*sizes)) : std::nullopt;
  const std::optional<ArrayRef<double>> by = scales ? std::optional(ArrayRef<double>(*scales)) : std::nullopt;
  if (mode == "nearest") {
    if (dims == 3) return upsample_nearest1d(input, goal, by);
    return dims == 4 ? upsample_nearest2d(input, goal, by) : upsample_nearest3d(input, goal, by);
  }
  if (mode == "nearest-exact") {
    if (dims == 3) return _upsample_nearest_exact1d(input, goal, by);
    return dims == 4 ? _upsample_nearest_exact2d(input, goal, by) : _upsample_nearest_exact3d(input, goal, by);
  }
  if (mode == "area") {
    if (dims == 3) return adaptive_avg_pool1d(input, *sizes);
    return dims == 4 ? adaptive_avg_pool2d(input, *sizes) : adaptive_avg_pool3d(input, *sizes);
  }
  return smooth(input, options, goal, by);
}

Tensor unfold(const Tensor& input, ExpandingArray<2> kernel_size, ExpandingArray<2> dilation, ExpandingArray<2> padding,
              ExpandingArray<2> stride) {
  return im2col(input, kernel_size, dilation, padding, stride);
}

Tensor fold(const Tensor& input, ExpandingArray<2> output_size, ExpandingArray<2> kernel_size,
            ExpandingArray<2> dilation, ExpandingArray<2> padding, ExpandingArray<2> stride) {
  return col2im(input, output_size, kernel_size, dilation, padding, stride);
}

namespace {

// Where a name stands in a list, as the operator numbers it.
std::int64_t number_of(const char* option, const std::string& name, std::initializer_list<std::string_view> names) {
  const auto found = std::ranges::find(names, name);
  KEYWAY_CHECK(found != names.end(), "grid_sample: there is no {} '{}'", option, name);
  return found - names.begin();
}

// The coordinates of `count` positions along one dimension.
Tensor coordinates(std::int64_t count, bool align_corners, const Tensor& like) {
  const TensorOptions options = TensorOptions(like.device()).dtype(like.dtype());
  if (count == 1) return zeros({1}, options);
  const double end = align_corners ? 1.0 : 1 - 1 / static_cast<double>(count);
  return linspace(-end, end, count, options);
}

}  // namespace

Tensor grid_sample(const Tensor& input, const Tensor& grid, const GridSampleFuncOptions& options) {
  const std::int64_t mode = number_of("mode", options.mode(), {"bilinear", "nearest", "bicubic"});
  const std::int64_t padding = number_of("padding_mode", options.padding_mode(), {"zeros", "border", "reflection"});
  return grid_sampler(input, grid, mode, padding, options.align_corners());
}

Tensor affine_grid(const Tensor& theta, const std::vector<std::int64_t>& size, bool align_corners) {
  const auto dims = static_cast<std::int64_t>(size.size()) - 2;
  KEYWAY_CHECK(theta.is_floating_point(), "affine_grid: theta must be of floating-point dtype, not {}", theta.dtype());
  KEYWAY_CHECK(
      (dims == 2 || dims == 3) && theta.sizes() == IntArrayRef({size[0], dims, dims + 1}),
      "affine_grid: theta {} is not [batch, 2, 3] for a size (batch, channels, height, width), or [batch, 3, 4] for "
      "one with a depth; the size is {}",
      theta.sizes(), IntArrayRef(size));
  std::vector<Tensor> axes;
  std::vector<std::int64_t> sizes = {size[0]};
  std::int64_t count = 1;
  for (std::size_t i = 2; i < size.size(); ++i) {
    axes.push_back(coordinates(size[i], align_corners, theta));
    sizes.push_back(size[i]);
    count *= size[i];
  }
  std::vector<Tensor> points = meshgrid(axes, "ij");
  std::ranges::reverse(points);  // x first
  points.push_back(ones_like(points[0]));
  sizes.push_back(dims);
  const Tensor all = stack(points, -1).reshape({1, count, dims + 1}).expand({size[0], -1, dims + 1});
  return all.bmm(theta.transpose(1, 2)).reshape(sizes);
}

}  // namespace keyway::inline v1::nn::functional
