// Images, and other tensors, of other sizes.
#include <keyway/onnx/import/operators/families.h>
#include <keyway/onnx/import/operators/one_call.h>

#include <algorithm>
#include <cmath>

namespace keyway::inline v1::onnx {

namespace {

using Sizes = std::vector<std::int64_t>;

// What the attributes say.
struct Resizing {
  std::string mode;
  std::string coordinates;
  std::string nearest;
  double cubic = -0.75;
  double beyond = 0;  // what lies outside, of tf_crop_and_resize
  bool excludes_outside = false;
  bool antialias = false;
};

// One dimension: its sizes, the factor between them, and the part that is read.
struct Line {
  std::int64_t size;
  std::int64_t new_size;
  double scale;
  double length;  // of the output: as the scale has it, if that is given
  double start = 0;
  double end = 1;
};

// Where in the input an element of the output lies.
double coordinate(const Call& call, const Resizing& r, const Line& line, std::int64_t at) {
  const auto i = static_cast<double>(at);
  const auto size = static_cast<double>(line.size);
  const double new_size = line.length;
  if (r.coordinates == "half_pixel") return (i + 0.5) / line.scale - 0.5;
  if (r.coordinates == "pytorch_half_pixel") return line.new_size > 1 ? (i + 0.5) / line.scale - 0.5 : 0;
  if (r.coordinates == "align_corners") return line.new_size > 1 ? i * (size - 1) / (new_size - 1) : 0;
  if (r.coordinates == "asymmetric") return i / line.scale;
  if (r.coordinates == "tf_half_pixel_for_nn") return (i + 0.5) / line.scale;
  if (r.coordinates == "half_pixel_symmetric") {
    return size / 2 * (1 - static_cast<double>(line.new_size) / (line.scale * size)) + (i + 0.5) / line.scale - 0.5;
  }
  if (r.coordinates == "tf_crop_and_resize") {
    if (line.new_size > 1)
      return (line.start + i * (line.end - line.start) / static_cast<double>(line.new_size - 1)) * (size - 1);
    return 0.5 * (line.start + line.end) * (size - 1);
  }
  call.refuse("there is no coordinate_transformation_mode '{}'", r.coordinates);
}

double nearest_of(const Call& call, const Resizing& r, double at) {
  if (r.nearest == "round_prefer_floor") return std::ceil(at - 0.5);
  if (r.nearest == "round_prefer_ceil") return std::floor(at + 0.5);
  if (r.nearest == "floor") return std::floor(at);
  if (r.nearest == "ceil") return std::ceil(at);
  call.refuse("there is no nearest_mode '{}'", r.nearest);
}

// The weight of an element so far away.
double weight_at(const Resizing& r, double distance) {
  const double x = std::abs(distance);
  if (r.mode == "linear") return std::max(1 - x, 0.0);
  const double a = r.cubic;
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((x - 5) * x + 8) * x * a - 4 * a : 0;
}

// Elements of the input with their weights, tap by tap, for all elements of the output.
struct Taps {
  std::vector<Sizes> places;
  std::vector<std::vector<double>> weights;
  std::vector<double> is_within;  // 0 where the output is what lies beyond
};

Taps taps_of(const Call& call, const Resizing& r, const Line& line) {
  const bool is_nearest = r.mode == "nearest";
  const double narrow = r.antialias ? std::min(line.scale, 1.0) : 1;
  const double support = (r.mode == "linear" ? 1 : 2) / narrow;
  const auto count = is_nearest ? 1 : static_cast<std::size_t>(2 * std::ceil(support));
  const auto length = static_cast<std::size_t>(line.new_size);
  Taps taps{{count, Sizes(length)}, {count, std::vector<double>(length, 1)}, std::vector<double>(length, 1)};
  for (std::size_t i = 0; i < length; ++i) {
    const double at = coordinate(call, r, line, static_cast<std::int64_t>(i));
    if (r.coordinates == "tf_crop_and_resize" && (at < 0 || at > static_cast<double>(line.size - 1)))
      taps.is_within[i] = 0;
    const double first = is_nearest ? nearest_of(call, r, at) : std::floor(at) + 1 - static_cast<double>(count / 2);
    double sum = 0;
    for (std::size_t t = 0; t < count; ++t) {
      const double place = first + static_cast<double>(t);
      double weight = is_nearest ? 1 : weight_at(r, (place - at) * narrow);
      if (r.excludes_outside && (place < 0 || place >= static_cast<double>(line.size))) weight = 0;
      taps.places[t][i] = static_cast<std::int64_t>(std::clamp(place, 0.0, static_cast<double>(line.size - 1)));
      taps.weights[t][i] = weight;
      sum += weight;
    }
    if (sum == 0 || (!r.excludes_outside && !r.antialias)) continue;
    for (std::size_t t = 0; t < count; ++t) taps.weights[t][i] /= sum;
  }
  return taps;
}

Tensor resized_line(const Call& call, const Resizing& r, const Line& line, const Tensor& x, std::int64_t axis) {
  const Taps taps = taps_of(call, r, line);
  Sizes shape(static_cast<std::size_t>(x.dim()), 1);
  shape[static_cast<std::size_t>(axis)] = line.new_size;
  Tensor y;
  for (std::size_t t = 0; t < taps.places.size(); ++t) {
    Tensor part = index_select(x, axis, known_numbers(taps.places[t]));
    if (taps.places.size() > 1) part = mul(part, reshape(known_numbers(taps.weights[t]).to(x.dtype()), shape));
    y = y.defined() ? add(y, part) : part;
  }
  if (std::ranges::find(taps.is_within, 0.0) == taps.is_within.end()) return y;
  return where(reshape(known_numbers(taps.is_within), shape).to(kBool), y, full_like(y, Scalar(r.beyond)));
}

// The sizes that keep the proportions, of which none or one at least is larger than asked for.
void keep_proportions(const Call& call, std::vector<Line>& lines) {
  const std::string policy = call.text_attribute("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch") return;
  call.check(policy == "not_larger" || policy == "not_smaller", "keep_aspect_ratio_policy '{}' is none of ONNX's",
             policy);
  call.check(!lines.empty(), "there are no sizes");
  double scale = lines[0].scale;
  for (const Line& line : lines)
    scale = policy == "not_larger" ? std::min(scale, line.scale) : std::max(scale, line.scale);
  for (Line& line : lines) {
    line.scale = scale;
    line.new_size = static_cast<std::int64_t>(std::floor(scale * static_cast<double>(line.size) + 0.5));
    line.length = static_cast<double>(line.new_size);
  }
}

std::vector<Line> lines_of(const Call& call, const Sizes& axes, std::size_t scales_input, const Resizing& r) {
  const Tensor& x = call.tensor(0);
  const bool has_sizes = call.has(3);
  const std::vector<double> scales = has_sizes ? std::vector<double>()
                                     : call.has(scales_input)
                                         ? call.numbers(scales_input)
                                         : [&] {
                                             const std::vector<float> list = call.singles_attribute("scales");
                                             return std::vector<double>(list.begin(), list.end());
                                           }();
  const Sizes sizes = has_sizes ? call.integers(3) : Sizes();
  call.check((has_sizes ? sizes.size() : scales.size()) == axes.size(), "{} sizes or scales for {} dimensions",
             has_sizes ? sizes.size() : scales.size(), axes.size());
  std::vector<Line> lines;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Line line{x.size(axes[i]), 0, 1, 0};
    call.check(line.size > 0, "dimension {} has no elements", axes[i]);
    line.scale = has_sizes ? static_cast<double>(sizes[i]) / static_cast<double>(line.size) : scales[i];
    line.new_size =
        has_sizes ? sizes[i] : static_cast<std::int64_t>(std::floor(scales[i] * static_cast<double>(line.size)));
    line.length = has_sizes ? static_cast<double>(sizes[i]) : scales[i] * static_cast<double>(line.size);
    call.check(line.scale > 0 && line.new_size > 0 && line.new_size < (std::int64_t{1} << 40),
               "dimension {} of {} elements cannot be scaled by {}", axes[i], line.size, line.scale);
    lines.push_back(line);
  }
  if (has_sizes) keep_proportions(call, lines);
  if (r.coordinates == "tf_crop_and_resize") {
    const std::vector<double> part = call.numbers(1);
    call.check(part.size() == 2 * axes.size(), "roi has {} numbers for {} dimensions", part.size(), axes.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      lines[i].start = part[i];
      lines[i].end = part[i + axes.size()];
    }
  }
  return lines;
}

Results resized(const Call& call, const Resizing& r, std::size_t scales_input) {
  const Tensor& x = call.tensor(0);
  call.check(r.mode == "nearest" || r.mode == "linear" || r.mode == "cubic", "mode '{}' is none of ONNX's", r.mode);
  Sizes axes = call.list_attribute("axes");
  if (!call.has_attribute("axes")) {
    for (std::int64_t i = 0; i < x.dim(); ++i) axes.push_back(i);
  }
  for (std::int64_t& axis : axes) axis = call.axis(axis, x.dim());
  const std::vector<Line> lines = lines_of(call, axes, scales_input, r);
  const bool as_floats = r.mode != "nearest" && !x.is_floating_point();
  Tensor y = as_floats ? x.to(kFloat) : x;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Line& line = lines[i];
    const bool stays = line.new_size == line.size && line.scale == 1 && line.start == 0 && line.end == 1;
    if (!stays) y = resized_line(call, r, line, y, axes[i]);
  }
  return {as_floats ? round(y).to(x.dtype()) : y};
}

Results resize(const Call& call) {
  Resizing r;
  r.mode = call.text_attribute("mode", "nearest");
  r.coordinates = call.text_attribute("coordinate_transformation_mode", "half_pixel");
  r.nearest = call.text_attribute("nearest_mode", "round_prefer_floor");
  r.cubic = call.single_attribute("cubic_coeff_a", -0.75);
  r.beyond = call.single_attribute("extrapolation_value", 0);
  r.excludes_outside = call.attribute("exclude_outside", 0) != 0;
  r.antialias = call.attribute("antialias", 0) != 0;
  return resized(call, r, 2);
}

// Upsample, and Resize of version 10.
Results upsample(const Call& call) {
  Resizing r;
  r.mode = call.text_attribute("mode", "nearest");
  if (r.mode == "bilinear") r.mode = "linear";
  r.coordinates = "asymmetric";
  r.nearest = "floor";
  return resized(call, r, 1);
}

constexpr std::string_view kResizeAttributes =
    "coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value mode nearest_mode";
constexpr std::string_view kResizeAttributes18 =
    "coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value mode nearest_mode antialias axes "
    "keep_aspect_ratio_policy";

constexpr Operator kResizings[] = {
    {"Resize", 10, upsample, 2, "mode"},
    {"Resize", 11, resize, 4, kResizeAttributes},
    {"Resize", 18, resize, 4, kResizeAttributes18},
    {"Upsample", 7, upsample, 1, "mode scales"},
    {"Upsample", 9, upsample, 2, "mode"},
};

}  // namespace

Family resize_family() { return kResizings; }

}  // namespace keyway::inline v1::onnx
