#include <keyway/core/tensor/tensor_options.h>

namespace keyway::inline v1 {

std::string to_string(TensorOptions options) {
  std::string text;
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!text.empty()) text += ", ";
    text.append(name).append("=").append(value);
  };
  if (const auto t = options.dtype_opt()) add("dtype", to_string(*t));
  if (const auto d = options.device_opt()) add("device", to_string(*d));
  if (const auto l = options.layout_opt()) add("layout", to_string(*l));
  if (const auto f = options.memory_format_opt()) add("memory_format", to_string(*f));
  if (const auto b = options.pinned_memory_opt()) add("pinned_memory", *b ? "True" : "False");
  if (const auto b = options.requires_grad_opt()) add("requires_grad", *b ? "True" : "False");
  return text.empty() ? "no options" : text;
}

}  // namespace keyway::inline v1
