#include <keyway/onnx/import/operators/windows.h>

#include <algorithm>

namespace keyway::inline v1::onnx {

bool Windows::is_dilated() const {
  return std::ranges::any_of(dilations, [](std::int64_t dilation) { return dilation != 1; });
}

std::vector<std::int64_t> Windows::padding() const {
  std::vector<std::int64_t> padding;
  for (std::size_t i = dims(); i-- > 0;) {
    padding.push_back(before[i]);
    padding.push_back(after[i]);
  }
  return padding;
}

std::vector<std::int64_t> list_for(const Call& call, std::string_view name, std::size_t dims, std::int64_t otherwise) {
  if (!call.has_attribute(name)) return std::vector<std::int64_t>(dims, otherwise);
  std::vector<std::int64_t> list = call.list_attribute(name);
  call.check(list.size() == dims, "{} has {} numbers for {} dimensions", name, list.size(), dims);
  return list;
}

Windows windows_of(const Call& call, IntArrayRef input, std::vector<std::int64_t> kernel) {
  Windows windows;
  windows.kernel = std::move(kernel);
  const std::size_t dims = windows.dims();
  call.check(input.size() == dims + 2, "windows of {} dimensions over an input of {}", dims, input.size());
  windows.strides = list_for(call, "strides", dims, 1);
  windows.dilations = list_for(call, "dilations", dims, 1);
  for (const auto* const list : {&windows.kernel, &windows.strides, &windows.dilations}) {
    call.check(std::ranges::all_of(*list, [](std::int64_t number) { return number > 0 && number < (1LL << 31); }),
               "kernel, strides and dilations must be positive");
  }
  const std::vector<std::int64_t> pads = list_for(call, "pads", 2 * dims, 0);
  windows.before.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(dims));
  windows.after.assign(pads.begin() + static_cast<std::ptrdiff_t>(dims), pads.end());
  const std::string automatic = call.text_attribute("auto_pad", "NOTSET");
  if (automatic == "NOTSET" || automatic.empty()) return windows;
  call.check(automatic == "VALID" || automatic == "SAME_UPPER" || automatic == "SAME_LOWER",
             "auto_pad '{}' is none of ONNX's", automatic);
  for (std::size_t i = 0; i < dims; ++i) {
    // As many windows as strides: the padding that this takes.
    const std::int64_t count = (input[i + 2] + windows.strides[i] - 1) / windows.strides[i];
    const std::int64_t all =
        std::max<std::int64_t>((count - 1) * windows.strides[i] + windows.extent(i) - input[i + 2], 0);
    windows.before[i] = automatic == "VALID" ? 0 : automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
    windows.after[i] = automatic == "VALID" ? 0 : all - windows.before[i];
  }
  return windows;
}

}  // namespace keyway::inline v1::onnx
