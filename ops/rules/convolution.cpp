#include <keyway/ops/rules/convolution.h>
#include <keyway/ops/rules/predicates.h>

namespace keyway::inline v1::rules {

namespace {

MemoryFormat format_of(const TensorBase& input, const TensorBase& weight) {
  const MemoryFormat format = input.suggest_memory_format();
  return format == MemoryFormat::Contiguous ? weight.suggest_memory_format() : format;
}

}  // namespace

OutputMeta convolution(const TensorBase& input, const TensorBase& weight, const TensorBase&, IntArrayRef stride,
                       IntArrayRef padding, IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
                       std::int64_t groups) {
  const std::string_view text = "conv_sizes";
  DimVector sizes = {input.sizes()[0], transposed ? contract::mul(weight.sizes()[1], groups, text) : weight.sizes()[0]};
  for (const std::int64_t size : contract::conv_sizes(input.sizes().slice(2), weight.sizes().slice(2), stride, padding,
                                                      dilation, transposed, output_padding, text)) {
    sizes.push_back(size);
  }
  return meta_of(sizes, format_of(input, weight));
}

std::array<OutputMeta, 3> convolution_backward(const TensorBase& grad_output, const TensorBase& input,
                                               const TensorBase& weight, std::optional<IntArrayRef>, IntArrayRef,
                                               IntArrayRef, IntArrayRef, bool, IntArrayRef, std::int64_t,
                                               ArrayRef<bool> output_mask) {
  const MemoryFormat format = format_of(input, weight);
  return {output_mask[0] ? meta_of(input.sizes(), format) : meta_undefined(),
          output_mask[1] ? meta_of(weight.sizes(), format) : meta_undefined(),
          output_mask[2] ? meta_of({grad_output.sizes()[1]}) : meta_undefined()};
}

}  // namespace keyway::inline v1::rules
