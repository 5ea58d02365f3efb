// Parts of images.
#include <keyway/onnx/import/operators/families.h>
#include <keyway/onnx/import/operators/one_call.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace keyway::inline v1::onnx {

namespace {

using Sizes = std::vector<std::int64_t>;

std::int64_t place_of(const Call& call, std::string_view word, std::initializer_list<std::string_view> words) {
  const auto at = std::ranges::find(words, word);
  if (at == words.end()) call.refuse("'{}' is none of ONNX's words", word);
  return at - words.begin();
}

Results sampled_at_grid(const Call& call) {
  const std::string mode = call.text_attribute("mode", call.version() < 20 ? "bilinear" : "linear");
  const bool is_old = call.version() < 20;
  const std::int64_t by = is_old ? place_of(call, mode, {"bilinear", "nearest", "bicubic"})
                                 : place_of(call, mode, {"linear", "nearest", "cubic"});
  const std::int64_t padding =
      place_of(call, call.text_attribute("padding_mode", "zeros"), {"zeros", "border", "reflection"});
  return {grid_sampler(call.tensor(0), call.tensor(1), by, padding, call.attribute("align_corners", 0) != 0)};
}

// Along one dimension: the elements before and behind each place, and how far it is from the first.
struct Between {
  Sizes before;
  Sizes after;
  std::vector<double> share;   // of the element behind
  std::vector<double> weight;  // 0 outside
};

Between between(double start, double step, std::int64_t count, std::int64_t size) {
  Between b;
  for (std::int64_t i = 0; i < count; ++i) {
    double at = start + (static_cast<double>(i) + 0.5) * step;
    const bool outside = at < -1 || at > static_cast<double>(size);
    at = std::max(at, 0.0);
    std::int64_t low = outside ? 0 : static_cast<std::int64_t>(at);
    double share = at - static_cast<double>(low);
    if (low >= size - 1) {
      low = size - 1;
      share = 0;
    }
    b.before.push_back(low);
    b.after.push_back(std::min(low + 1, size - 1));
    b.share.push_back(outside ? 0 : share);
    b.weight.push_back(outside ? 0 : 1);
  }
  return b;
}

Tensor interpolated(const Tensor& x, std::int64_t axis, const Between& b) {
  Sizes shape(static_cast<std::size_t>(x.dim()), 1);
  shape[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(b.before.size());
  const auto column = [&](const std::vector<double>& list) {
    return reshape(known_numbers(list).to(x.dtype()), shape);
  };
  const Tensor share = column(b.share);
  const Tensor low = mul(index_select(x, axis, known_numbers(b.before)), rsub(share, Scalar(1)));
  const Tensor high = mul(index_select(x, axis, known_numbers(b.after)), share);
  return mul(add(low, high), column(b.weight));
}

Results aligned_regions(const Call& call) {
  const Tensor& x = call.tensor(0);
  const std::vector<double> rois = call.numbers(1);
  const Sizes batches = call.integers(2);
  if (call.text_attribute("mode", "avg") != "avg") call.refuse("the mode 'max' of regions is not there");
  call.check(x.dim() == 4 && rois.size() == 4 * batches.size(), "{} numbers of regions for {} batches", rois.size(),
             batches.size());
  const std::int64_t height = call.attribute("output_height", 1);
  const std::int64_t width = call.attribute("output_width", 1);
  const double scale = call.single_attribute("spatial_scale", 1);
  const std::int64_t sampling = call.attribute("sampling_ratio", 0);
  const bool half =
      call.version() >= 16 && call.text_attribute("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const double offset = half ? 0.5 : 0;
    const auto edge = [&](std::size_t at) { return rois[4 * i + at] * scale - offset; };
    const double roi_width = half ? edge(2) - edge(0) : std::max(edge(2) - edge(0), 1.0);
    const double roi_height = half ? edge(3) - edge(1) : std::max(edge(3) - edge(1), 1.0);
    const auto samples = [&](double length, std::int64_t bins) {
      return sampling > 0
                 ? sampling
                 : std::max<std::int64_t>(static_cast<std::int64_t>(std::ceil(length / static_cast<double>(bins))), 1);
    };
    const std::int64_t rows = samples(roi_height, height), columns = samples(roi_width, width);
    const Between y = between(edge(1), roi_height / static_cast<double>(height * rows), height * rows, x.size(2));
    const Between z = between(edge(0), roi_width / static_cast<double>(width * columns), width * columns, x.size(3));
    const Tensor values = interpolated(interpolated(select(x, 0, call.axis(batches[i], x.size(0))), 1, y), 2, z);
    const Sizes within = {2, 4};
    results.push_back(mean(reshape(values, {x.size(1), height, rows, width, columns}), OptionalIntArrayRef(within)));
  }
  if (results.empty()) return {empty({0, x.size(1), height, width}, x.options())};
  return {stack(results, 0)};
}

// A box by its corners.
struct Box {
  double y1, x1, y2, x2;
  double area() const { return (y2 - y1) * (x2 - x1); }
};

Box box_of(const double* numbers, bool is_center) {
  if (is_center) {
    const double x = numbers[0], y = numbers[1], w = numbers[2], h = numbers[3];
    return {y - h / 2, x - w / 2, y + h / 2, x + w / 2};
  }
  return {std::min(numbers[0], numbers[2]), std::min(numbers[1], numbers[3]), std::max(numbers[0], numbers[2]),
          std::max(numbers[1], numbers[3])};
}

double shared_part(const Box& a, const Box& b) {
  const double height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  const double width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  if (height <= 0 || width <= 0) return 0;
  return height * width / (a.area() + b.area() - height * width);
}

// Of boxes that overlap, the one with the highest score.
Results suppressed_boxes(const Call& call) {
  const Tensor& scores = call.tensor(1);
  const Tensor& boxes = call.tensor(0);
  call.check(boxes.dim() == 3 && scores.dim() == 3 && boxes.size(2) == 4 && boxes.size(1) == scores.size(2) &&
                 boxes.size(0) == scores.size(0),
             "boxes of sizes {} do not fit scores of sizes {}", boxes.sizes(), scores.sizes());
  const std::vector<double> corners = call.numbers(0);
  const std::vector<double> points = call.numbers(1);
  const std::int64_t most = call.has(2) ? call.integer(2) : 0;
  const double overlap = call.has(3) ? call.number(3) : 0;
  const bool is_center = call.attribute("center_point_box", 0) != 0;
  const auto count = static_cast<std::size_t>(boxes.size(1));
  Sizes chosen;
  for (std::int64_t batch = 0; batch < scores.size(0); ++batch) {
    for (std::int64_t cls = 0; cls < scores.size(1); ++cls) {
      const double* const score = points.data() + static_cast<std::size_t>(batch * scores.size(1) + cls) * count;
      std::vector<std::size_t> order;
      for (std::size_t i = 0; i < count; ++i) {
        if (!call.has(4) || score[i] > call.number(4)) order.push_back(i);
      }
      std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return score[i]; });
      std::vector<Box> kept;
      for (const std::size_t i : order) {
        if (static_cast<std::int64_t>(kept.size()) >= most) break;
        const Box box = box_of(corners.data() + 4 * (static_cast<std::size_t>(batch) * count + i), is_center);
        if (std::ranges::any_of(kept, [&](const Box& other) { return shared_part(box, other) > overlap; })) continue;
        kept.push_back(box);
        chosen.insert(chosen.end(), {batch, cls, static_cast<std::int64_t>(i)});
      }
    }
  }
  return {reshape(known_numbers(chosen), {-1, 3})};
}

// Where the elements of an image lie between -1 and 1: at the outermost elements' centers, or at their edges.
Tensor centers(std::int64_t size, bool align_corners) {
  const Tensor steps = arange(Scalar(size), kDouble);
  if (align_corners)
    return size > 1 ? sub(mul(steps, Scalar(2.0 / static_cast<double>(size - 1))), Scalar(1)) : zeros_like(steps);
  return sub(div(add(mul(steps, Scalar(2)), Scalar(1)), Scalar(size)), Scalar(1));
}

Results affine_grid_of(const Call& call) {
  const Tensor& theta = call.tensor(0);
  const Sizes sizes = call.integers(1);
  call.check((sizes.size() == 4 || sizes.size() == 5) && theta.dim() == 3, "theta of sizes {} does not fit {} sizes",
             theta.sizes(), sizes.size());
  const bool corners = call.attribute("align_corners", 0) != 0;
  const std::size_t dims = sizes.size() - 2;
  const Sizes space(sizes.begin() + 2, sizes.end());
  std::vector<Tensor> parts;
  for (std::size_t i = dims; i-- > 0;) {
    Sizes shape(dims, 1);
    shape[i] = space[i];
    parts.push_back(reshape(centers(space[i], corners), shape).expand(space));
  }
  parts.push_back(ones(space, kDouble));
  const Tensor base = reshape(stack(parts, -1).to(theta.dtype()), {-1, static_cast<std::int64_t>(dims) + 1});
  Sizes result = {sizes[0]};
  result.insert(result.end(), space.begin(), space.end());
  result.push_back(static_cast<std::int64_t>(dims));
  return {reshape(matmul(base, theta.transpose(1, 2)), result)};
}

constexpr Operator kImages[] = {
    {"AffineGrid", 20, affine_grid_of, 2, "align_corners"},
    {"GridSample", 16, sampled_at_grid, 2, "align_corners mode padding_mode"},
    {"NonMaxSuppression", 10, suppressed_boxes, 5, "center_point_box"},
    {"RoiAlign", 10, aligned_regions, 3, "mode output_height output_width sampling_ratio spatial_scale"},
    {"RoiAlign", 16, aligned_regions, 3,
     "coordinate_transformation_mode mode output_height output_width sampling_ratio spatial_scale"},
};

}  // namespace

Family image_family() { return kImages; }

}  // namespace keyway::inline v1::onnx
