// Convolutions.
#include <keyway/onnx/export/operators/common.h>

namespace keyway::inline v1::onnx::exporter {

namespace {

// The same before and behind.
std::vector<std::int64_t> both_ends(std::vector<std::int64_t> pads) {
  const std::size_t count = pads.size();
  for (std::size_t i = 0; i < count; ++i) pads.push_back(pads[i]);
  return pads;
}

Vars convolved(const Call& call) {
  const std::size_t count = static_cast<std::size_t>(call.rank("weight")) - 2;
  const bool is_single = call.rank("input") == static_cast<std::int64_t>(count) + 1;
  const bool is_transposed = call.takes("transposed") ? call.flag("transposed") : call.word() == "ConvTranspose";
  std::vector<std::int64_t> kernel;
  for (std::size_t i = 0; i < count; ++i)
    kernel.push_back(call.fixed_size_of("weight", static_cast<std::int64_t>(i) + 2));
  Attributes attributes{{"dilations", call.spatial("dilation", count)},
                        {"group", call.integer("groups")},
                        {"kernel_shape", kernel},
                        {"pads", both_ends(call.spatial("padding", count, 0))},
                        {"strides", call.spatial("stride", count)}};
  if (is_transposed) attributes.emplace_back("output_padding", call.spatial("output_padding", count, 0));
  const Var input = is_single ? call.unsqueeze(call.tensor("input"), {0}) : call.tensor("input");
  const Var y = call.node(is_transposed ? "ConvTranspose" : "Conv", {input, call.tensor("weight"), call.tensor("bias")},
                          attributes);
  return is_single ? call.squeeze(y, {0}) : y;
}

constexpr Mapping kConvolutions[] = {
    {"conv1d", convolved},
    {"conv2d", convolved},
    {"conv3d", convolved},
    {"conv_transpose1d", convolved, "ConvTranspose"},
    {"conv_transpose2d.input", convolved, "ConvTranspose"},
    {"conv_transpose3d.input", convolved, "ConvTranspose"},
    {"convolution", convolved},
};

}  // namespace

Family convolution_family() { return kConvolutions; }

}  // namespace keyway::inline v1::onnx::exporter
