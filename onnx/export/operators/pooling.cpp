// Pooling, and images of other sizes.
#include <keyway/onnx/export/operators/common.h>

#include <algorithm>
#include <numeric>

namespace keyway::inline v1::onnx::exporter {

namespace {

std::vector<std::int64_t> both_ends(std::vector<std::int64_t> pads) {
  const std::size_t count = pads.size();
  for (std::size_t i = 0; i < count; ++i) pads.push_back(pads[i]);
  return pads;
}

std::size_t digit(std::string_view text) { return static_cast<std::size_t>(text.front() - '0'); }

// The windows of a call, and its input with a batch.
struct Windows {
  std::size_t count;
  bool is_single;
  std::vector<std::int64_t> kernel, strides, pads;
  bool rounds_up;
};
Windows windows_of(const Call& call) {
  Windows windows;
  windows.count = digit(call.word());
  windows.is_single = call.rank("self") == static_cast<std::int64_t>(windows.count) + 1;
  windows.kernel = call.spatial("kernel_size", windows.count);
  windows.strides = call.integers("stride").empty() ? windows.kernel : call.spatial("stride", windows.count);
  windows.pads = call.spatial("padding", windows.count, 0);
  windows.rounds_up = call.flag("ceil_mode");
  // Which last windows there are and what they divide by is said in different ways.
  for (std::size_t i = 0; windows.rounds_up && i < windows.count; ++i) {
    if (windows.pads[i] != 0 || windows.strides[i] > windows.kernel[i]) call.refuse("'ceil_mode' with padding");
  }
  return windows;
}
Var with_batch(const Call& call, bool is_single) {
  return is_single ? call.unsqueeze(call.tensor("self"), {0}) : call.tensor("self");
}

Vars largest(const Call& call) {
  const Windows windows = windows_of(call);
  const bool gives_places = call.results() == 2 && call.is_used(1);
  std::vector<ScalarType> dtypes{call.result_dtype()};
  if (gives_places) dtypes.push_back(kLong);
  std::vector<Var> results = call.nodes("MaxPool", {with_batch(call, windows.is_single)}, dtypes,
                                        {{"ceil_mode", windows.rounds_up},
                                         {"dilations", call.spatial("dilation", windows.count)},
                                         {"kernel_shape", windows.kernel},
                                         {"pads", both_ends(windows.pads)},
                                         {"strides", windows.strides}});
  if (gives_places) {  // of the whole input; those of Keyway are within an image
    Var size = call.number(1, kLong);
    const std::int64_t rank = call.rank("self");
    for (std::int64_t dim = rank - static_cast<std::int64_t>(windows.count); dim < rank; ++dim)
      size = call.node("Mul", {size, call.size_var("self", dim)});
    results[1] = call.node("Mod", {results[1], size});
  }
  for (Var& result : results) result = windows.is_single ? call.squeeze(result, {0}) : result;
  return results;
}

Vars means(const Call& call) {
  const Windows windows = windows_of(call);
  if (windows.rounds_up) call.refuse("'ceil_mode'");
  if (call.has("divisor_override")) call.refuse("'divisor_override'");
  const Var y = call.node("AveragePool", {with_batch(call, windows.is_single)},
                          {{"count_include_pad", call.flag("count_include_pad")},
                           {"kernel_shape", windows.kernel},
                           {"pads", both_ends(windows.pads)},
                           {"strides", windows.strides}});
  return windows.is_single ? call.squeeze(y, {0}) : y;
}

// Windows that are alike, which the sizes have to allow.
Vars adaptive(const Call& call) {
  const std::size_t count = digit(call.word());
  const bool is_mean = call.word().ends_with("mean");
  const std::int64_t rank = call.rank("self");
  const std::vector<std::int64_t> sizes = call.spatial("output_size", count);
  if (call.results() == 2 && call.is_used(1)) call.refuse("places of the largest elements");
  std::vector<std::int64_t> dims(count), kernel(count);
  std::iota(dims.begin(), dims.end(), rank - static_cast<std::int64_t>(count));
  if (std::ranges::all_of(sizes, [](std::int64_t size) { return size == 1; }))
    return call.node(is_mean ? "ReduceMean" : "ReduceMax", {call.tensor("self"), call.ints(dims)},
                     {{"keepdims", true}});
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t size = call.fixed_size_of("self", dims[i]);
    if (sizes[i] == 0 || size % sizes[i] != 0) call.refuse("windows of several sizes");
    kernel[i] = size / sizes[i];
  }
  const bool is_single = rank == static_cast<std::int64_t>(count) + 1;
  const Var y = call.node(is_mean ? "AveragePool" : "MaxPool", {with_batch(call, is_single)},
                          {{"kernel_shape", kernel}, {"strides", kernel}});
  return is_single ? call.squeeze(y, {0}) : y;
}

// "nearest", "exact", "linear" or "cubic".
Vars resized(const Call& call) {
  const bool is_nearest = call.word() == "nearest" || call.word() == "exact";
  const bool aligns = call.takes("align_corners") && call.flag("align_corners");
  Attributes attributes{{"mode", is_nearest ? "nearest" : call.word()},
                        {"coordinate_transformation_mode", call.word() == "nearest" ? "asymmetric"
                                                           : aligns                 ? "align_corners"
                                                                                    : "half_pixel"},
                        {"nearest_mode", call.word() == "exact" ? "round_prefer_ceil" : "floor"}};
  if (call.word() == "cubic") attributes.emplace_back("cubic_coeff_a", -0.75);
  const Var x = call.tensor("input");
  if (call.has("output_size")) {
    const Var outer = call.node("Shape", {x}, kLong, {{"start", 0}, {"end", 2}});
    const Var sizes = call.node("Concat", {outer, call.ints(call.sizes("output_size"))}, {{"axis", 0}});
    return call.node("Resize", {x, {}, {}, sizes}, attributes);
  }
  std::vector<double> scales{1, 1};
  for (const double scale : call.reals("scale_factors")) scales.push_back(scale);
  return call.node("Resize", {x, {}, call.floats(scales)}, attributes);
}

Vars sampled(const Call& call) {
  const bool is_flat = call.rank("input") == 4;
  if (!is_flat && call.opset() < 20) call.refuse("images of three dimensions need opset 20");
  const bool is_new = call.opset() >= 20;
  const std::string_view modes[] = {is_new ? "linear" : "bilinear", "nearest", is_new ? "cubic" : "bicubic"};
  constexpr std::string_view kPaddings[] = {"zeros", "border", "reflection"};
  return call.node("GridSample", {call.tensor("input"), call.tensor("grid")},
                   {{"mode", modes[call.integer("interpolation_mode")]},
                    {"padding_mode", kPaddings[call.integer("padding_mode")]},
                    {"align_corners", call.flag("align_corners")}});
}

constexpr Mapping kPooling[] = {
    {"_adaptive_avg_pool2d", adaptive, "2mean"},
    {"_adaptive_avg_pool3d", adaptive, "3mean"},
    {"_upsample_nearest_exact1d.vec", resized, "exact"},
    {"_upsample_nearest_exact2d.vec", resized, "exact"},
    {"_upsample_nearest_exact3d.vec", resized, "exact"},
    {"adaptive_avg_pool1d", adaptive, "1mean"},
    {"adaptive_avg_pool2d", adaptive, "2mean"},
    {"adaptive_avg_pool3d", adaptive, "3mean"},
    {"adaptive_max_pool1d", adaptive, "1"},
    {"adaptive_max_pool2d", adaptive, "2"},
    {"adaptive_max_pool3d", adaptive, "3"},
    {"avg_pool1d", means, "1"},
    {"avg_pool2d", means, "2"},
    {"avg_pool3d", means, "3"},
    {"grid_sampler", sampled},
    {"grid_sampler_2d", sampled},
    {"grid_sampler_3d", sampled},
    {"max_pool1d", largest, "1"},
    {"max_pool1d_with_indices", largest, "1"},
    {"max_pool2d", largest, "2"},
    {"max_pool2d_with_indices", largest, "2"},
    {"max_pool3d", largest, "3"},
    {"max_pool3d_with_indices", largest, "3"},
    {"upsample_bicubic2d.vec", resized, "cubic"},
    {"upsample_bilinear2d.vec", resized, "linear"},
    {"upsample_linear1d.vec", resized, "linear"},
    {"upsample_nearest1d.vec", resized, "nearest"},
    {"upsample_nearest2d.vec", resized, "nearest"},
    {"upsample_nearest3d.vec", resized, "nearest"},
    {"upsample_trilinear3d.vec", resized, "linear"},
};

}  // namespace

Family pooling_family() { return kPooling; }

}  // namespace keyway::inline v1::onnx::exporter
