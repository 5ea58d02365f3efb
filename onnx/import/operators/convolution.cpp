// Convolutions.
#include <keyway/onnx/import/operators/convolve.h>
#include <keyway/onnx/import/operators/families.h>
#include <keyway/onnx/import/operators/one_call.h>
#include <keyway/onnx/import/operators/windows.h>

#include <algorithm>

namespace keyway::inline v1::onnx {

namespace {

using Sizes = std::vector<std::int64_t>;

Sizes kernel_of(const Call& call, const Tensor& weight) {
  call.check(weight.dim() >= 3 && weight.dim() <= 5, "the weight has {} dimensions, but must have 3 to 5",
             weight.dim());
  const Sizes kernel(weight.sizes().begin() + 2, weight.sizes().end());
  call.check(!call.has_attribute("kernel_shape") || call.list_attribute("kernel_shape") == kernel,
             "kernel_shape is not the weight's sizes {}", weight.sizes());
  return kernel;
}

Results convolution_of(const Call& call) { return {convolve(call, call.tensor(0), call.tensor(1), call.tensor_if(2))}; }

// What the result loses before and behind, by padding or by the sizes that it is to have.
struct Crop {
  Sizes before;
  Sizes after;
};

Crop crop_of(const Call& call, const Windows& windows, IntArrayRef input, const Sizes& more) {
  const std::string automatic = call.text_attribute("auto_pad", "NOTSET");
  const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  Sizes sizes = call.list_attribute("output_shape");
  if (sizes.empty() && !same) return {windows.before, windows.after};
  const std::size_t dims = windows.dims();
  if (sizes.size() == dims + 2) sizes.erase(sizes.begin(), sizes.begin() + 2);
  call.check(sizes.empty() || sizes.size() == dims, "output_shape has {} numbers for {} dimensions", sizes.size(),
             dims);
  Crop crop;
  for (std::size_t i = 0; i < dims; ++i) {
    const std::int64_t size = sizes.empty() ? input[i + 2] * windows.strides[i] : sizes[i];
    const std::int64_t all = windows.strides[i] * (input[i + 2] - 1) + more[i] + windows.extent(i) - size;
    // What is missing comes behind.
    crop.before.push_back(all < 0 ? 0 : automatic == "SAME_UPPER" ? all / 2 : all - all / 2);
    crop.after.push_back(all - crop.before[i]);
  }
  return crop;
}

Results transposed_convolution(const Call& call) {
  const Tensor& x = call.tensor(0);
  const Tensor& weight = call.tensor(1);
  const Windows windows = windows_of(call, x.sizes(), kernel_of(call, weight));
  const std::size_t dims = windows.dims();
  const Sizes more = list_for(call, "output_padding", dims, 0);
  const Crop crop = crop_of(call, windows, x.sizes(), more);
  const std::int64_t groups = call.attribute("group", 1);
  const bool fits =
      crop.before == crop.after && std::ranges::all_of(crop.before, [](std::int64_t n) { return n >= 0; });
  const Sizes nothing(dims, 0);
  // output_padding has to be less than the stride: what is more is padded with zeros.
  Sizes asked(dims, 0);
  Sizes padding;
  for (std::size_t i = dims; i-- > 0;) {
    asked[i] = std::min(more[i], std::max(windows.strides[i], windows.dilations[i]) - 1);
    padding.push_back(fits ? 0 : -crop.before[i]);
    padding.push_back((fits ? 0 : -crop.after[i]) + more[i] - asked[i]);
  }
  Tensor y = convolution(x, weight, std::nullopt, windows.strides, fits ? crop.before : nothing, windows.dilations,
                         true, asked, groups);
  if (std::ranges::any_of(padding, [](std::int64_t n) { return n != 0; })) y = constant_pad_nd(y, padding);
  if (!call.has(2)) return {y};
  Sizes sizes(dims + 1, 1);
  sizes[0] = call.tensor(2).numel();
  return {add(y, reshape(call.tensor(2), sizes))};
}

Results columns_to_image(const Call& call) {
  const Tensor& x = call.tensor(0);
  const Sizes image = call.integers(1);
  const Sizes block = call.integers(2);
  const std::size_t dims = image.size();
  if (dims != 2) call.refuse("images of {} dimensions are not there, only of 2", dims);
  const Sizes dilations = list_for(call, "dilations", dims, 1);
  const Sizes strides = list_for(call, "strides", dims, 1);
  const Sizes pads = list_for(call, "pads", 2 * dims, 0);
  const Sizes whole = {image[0] + pads[0] + pads[2], image[1] + pads[1] + pads[3]};
  const Tensor y = col2im(x, whole, block, dilations, Sizes{0, 0}, strides);
  return {constant_pad_nd(y, {-pads[1], -pads[3], -pads[0], -pads[2]})};
}

constexpr Operator kConvolutions[] = {
    {"Col2Im", 18, columns_to_image, 3, "dilations pads strides"},
    {"Conv", 1, convolution_of, 3, "auto_pad dilations group kernel_shape pads strides"},
    {"ConvTranspose", 1, transposed_convolution, 3,
     "auto_pad dilations group kernel_shape output_padding output_shape pads strides"},
};

}  // namespace

Tensor convolve(const Call& call, const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
  const Windows windows = windows_of(call, input.sizes(), kernel_of(call, weight));
  const std::int64_t groups = call.attribute("group", 1);
  const Sizes nothing(windows.dims(), 0);
  const bool even = windows.is_padded_evenly();
  const Tensor x = even ? input : constant_pad_nd(input, windows.padding());
  return convolution(x, weight, bias, windows.strides, even ? windows.before : nothing, windows.dilations, false,
                     nothing, groups);
}

Family convolution_family() { return kConvolutions; }

}  // namespace keyway::inline v1::onnx
