// Pooling.
#include <keyway/onnx/import/operators/families.h>
#include <keyway/onnx/import/operators/one_call.h>
#include <keyway/onnx/import/operators/windows.h>

#include <algorithm>
#include <limits>

namespace keyway::inline v1::onnx {

namespace {

using Sizes = std::vector<std::int64_t>;

Sizes pool_kernel(const Call& call) {
  const Sizes kernel = call.list_attribute("kernel_shape");
  call.check(!kernel.empty() && kernel.size() <= 3, "kernel_shape has {} numbers, but must have 1 to 3", kernel.size());
  return kernel;
}

// Adds what the last windows reach beyond the padding where their number is rounded up: a window begins within the
// input or the padding before it.
void reach_up(Windows& windows, IntArrayRef input) {
  for (std::size_t i = 0; i < windows.dims(); ++i) {
    const std::int64_t rest = input[i + 2] + windows.before[i] + windows.after[i] - windows.extent(i);
    if (rest < 0 || rest % windows.strides[i] == 0) continue;
    const std::int64_t last = (rest / windows.strides[i] + 1) * windows.strides[i];
    if (last < input[i + 2] + windows.before[i]) windows.after[i] += windows.strides[i] - rest % windows.strides[i];
  }
}

Scalar least_of(ScalarType dtype) {
  if (is_floating_point(dtype)) return Scalar(-std::numeric_limits<double>::infinity());
  switch (dtype) {
    case kChar: return Scalar(std::int64_t{-128});
    case kShort: return Scalar(std::int64_t{-32768});
    case kInt: return Scalar(std::int64_t{std::numeric_limits<std::int32_t>::min()});
    case kLong: return Scalar(std::numeric_limits<std::int64_t>::min());
    default: return Scalar(std::int64_t{0});
  }
}

std::tuple<Tensor, Tensor> max_with_indices(const Tensor& x, const Windows& w) {
  const Sizes none(w.dims(), 0);
  switch (w.dims()) {
    case 1: return max_pool1d_with_indices(x, w.kernel, w.strides, none, w.dilations);
    case 2: return max_pool2d_with_indices(x, w.kernel, w.strides, none, w.dilations);
    default: return max_pool3d_with_indices(x, w.kernel, w.strides, none, w.dilations);
  }
}

// Where in the padded plane of a channel, as where in the whole input.
Tensor unpadded_indices(const Call& call, Tensor at, const Windows& w, IntArrayRef input) {
  const bool columns_first = call.attribute("storage_order", 0) != 0;
  Tensor result = zeros_like(at);
  std::int64_t stride = 1;
  std::vector<std::pair<Tensor, std::int64_t>> places;  // in each dimension, the last one first; and its size
  for (std::size_t i = w.dims(); i-- > 0;) {
    const std::int64_t padded = input[i + 2] + w.before[i] + w.after[i];
    places.emplace_back(sub(remainder(at, Scalar(padded)), Scalar(w.before[i])), input[i + 2]);
    at = div(at, Scalar(padded), "floor");
  }
  if (columns_first) std::ranges::reverse(places);
  for (const auto& [place, size] : places) {
    result = add(result, mul(place, Scalar(stride)));
    stride *= size;
  }
  Tensor planes = mul(arange(Scalar(input[0] * input[1]), kLong), Scalar(stride));
  Sizes sizes(w.dims() + 2, 1);
  sizes[0] = input[0];
  sizes[1] = input[1];
  return add(result, reshape(planes, sizes));
}

Results max_pool(const Call& call) {
  const Tensor& x = call.tensor(0);
  Windows windows = windows_of(call, x.sizes(), pool_kernel(call));
  if (call.attribute("ceil_mode", 0) != 0) reach_up(windows, x.sizes());
  const bool padded = std::ranges::any_of(windows.padding(), [](std::int64_t n) { return n != 0; });
  const Tensor whole = padded ? constant_pad_nd(x, windows.padding(), least_of(x.dtype())) : x;
  const auto [y, at] = max_with_indices(whole, windows);
  if (!call.wants(1)) return {y};
  return {y, unpadded_indices(call, at, windows, x.sizes())};
}

// The sums of the windows, each channel by itself.
Tensor window_sums(const Tensor& x, const Windows& windows) {
  Sizes sizes = {x.size(1), 1};
  sizes.insert(sizes.end(), windows.kernel.begin(), windows.kernel.end());
  const Sizes nothing(windows.dims(), 0);
  return convolution(x, ones(sizes, x.options()), std::nullopt, windows.strides, nothing, windows.dilations, false,
                     nothing, x.size(1));
}

// The sums, and how many elements each window has, those of the padding among them or not.
std::pair<Tensor, Tensor> sums_and_counts(const Call& call, const Tensor& x, bool counts_padding) {
  Windows windows = windows_of(call, x.sizes(), pool_kernel(call));
  const Sizes padding = windows.padding();
  if (call.attribute("ceil_mode", 0) != 0) reach_up(windows, x.sizes());
  Sizes beyond = windows.padding();
  Tensor elements = ones_like(slice(slice(x, 0, 0, 1, 1), 1, 0, 1, 1));
  if (counts_padding) {
    elements = constant_pad_nd(elements, padding, Scalar(1));
    for (std::size_t i = 0; i < beyond.size(); ++i) beyond[i] -= padding[i];
  }
  return {window_sums(constant_pad_nd(x, windows.padding()), windows),
          window_sums(constant_pad_nd(elements, beyond), windows)};
}

Results average_pool(const Call& call) {
  const Tensor& x = call.tensor(0);
  const auto [sums, counts] = sums_and_counts(call, x, call.attribute("count_include_pad", 0) != 0);
  return {div(sums, counts)};
}

Results lp_pool(const Call& call) {
  const Tensor& x = call.tensor(0);
  const double p = call.version() < 2 ? call.single_attribute("p", 2) : static_cast<double>(call.attribute("p", 2));
  const auto [sums, counts] = sums_and_counts(call, pow(abs(x), Scalar(p)), false);
  return {pow(sums, Scalar(1 / p))};
}

Sizes spatial_dims(const Tensor& x) {
  Sizes axes;
  for (std::int64_t i = 2; i < x.dim(); ++i) axes.push_back(i);
  return axes;
}

Results global_average(const Call& call) {
  return {mean(call.tensor(0), OptionalIntArrayRef(spatial_dims(call.tensor(0))), true)};
}
Results global_max(const Call& call) { return {amax(call.tensor(0), spatial_dims(call.tensor(0)), true)}; }
Results global_lp(const Call& call) {
  const Tensor& x = call.tensor(0);
  const double p = call.version() < 2 ? call.single_attribute("p", 2) : static_cast<double>(call.attribute("p", 2));
  return {linalg_vector_norm(x, Scalar(p), OptionalIntArrayRef(spatial_dims(x)), true)};
}

// Elements at indices of the output that the attributes give; a larger one has zeros behind that.
Results max_unpool(const Call& call) {
  const Tensor& x = call.tensor(0);
  const Windows windows = windows_of(call, x.sizes(), pool_kernel(call));
  Sizes sizes = {x.size(0), x.size(1)};
  for (std::size_t i = 0; i < windows.dims(); ++i) {
    sizes.push_back((x.sizes()[i + 2] - 1) * windows.strides[i] + windows.kernel[i] - windows.before[i] -
                    windows.after[i]);
  }
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  const Tensor flat = scatter(zeros({count}, x.options()), 0, reshape(call.tensor(1), {-1}), reshape(x, {-1}));
  Tensor y = reshape(flat, sizes);
  if (!call.has(2)) return {y};
  const Sizes asked = call.integers(2);
  call.check(asked.size() == sizes.size(), "output_shape has {} numbers for {} dimensions", asked.size(), sizes.size());
  Sizes padding;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    padding.push_back(0);
    padding.push_back(asked[i] - sizes[i]);
  }
  return {constant_pad_nd(y, padding)};
}

constexpr std::string_view kPool = "auto_pad kernel_shape pads strides";

constexpr Operator kPoolings[] = {
    {"AveragePool", 1, average_pool, 1, kPool},
    {"AveragePool", 7, average_pool, 1, "auto_pad count_include_pad kernel_shape pads strides"},
    {"AveragePool", 10, average_pool, 1, "auto_pad ceil_mode count_include_pad kernel_shape pads strides"},
    {"AveragePool", 19, average_pool, 1, "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides"},
    {"GlobalAveragePool", 1, global_average},
    {"GlobalLpPool", 1, global_lp, 1, "p"},
    {"GlobalMaxPool", 1, global_max},
    {"LpPool", 1, lp_pool, 1, "auto_pad kernel_shape p pads strides"},
    {"LpPool", 18, lp_pool, 1, "auto_pad ceil_mode dilations kernel_shape p pads strides"},
    {"MaxPool", 1, max_pool, 1, kPool},
    {"MaxPool", 8, max_pool, 1, "auto_pad kernel_shape pads storage_order strides", 2},
    {"MaxPool", 10, max_pool, 1, "auto_pad ceil_mode dilations kernel_shape pads storage_order strides", 2},
    {"MaxUnpool", 9, max_unpool, 3, "kernel_shape pads strides"},
};

}  // namespace

Family pooling_family() { return kPoolings; }

}  // namespace keyway::inline v1::onnx
