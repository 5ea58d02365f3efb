#include <keyway/ops/rules/normalization.h>

namespace keyway::inline v1::rules {

std::array<OutputMeta, 3> _batch_norm_forward(const TensorBase& input, const TensorBase&, const TensorBase&, double) {
  const DimVector channels{input.sizes()[1]};
  return {meta_like(input), meta_of(channels), meta_of(channels)};
}

std::array<OutputMeta, 3> _batch_norm_backward(const TensorBase&, const TensorBase& input, const TensorBase&,
                                               const TensorBase&, const TensorBase&, double,
                                               ArrayRef<bool> output_mask) {
  const DimVector channels{input.sizes()[1]};
  return {output_mask[0] ? meta_like(input) : meta_undefined(), output_mask[1] ? meta_of(channels) : meta_undefined(),
          output_mask[2] ? meta_of(channels) : meta_undefined()};
}

std::array<OutputMeta, 3> native_layer_norm(const TensorBase& input, IntArrayRef normalized_shape, const TensorBase&,
                                            const TensorBase&, double) {
  DimVector statistics = input.sizes();
  for (std::size_t d = statistics.size() - normalized_shape.size(); d < statistics.size(); ++d) {
    statistics[d] = 1;
  }
  return {meta_of(input.sizes()), meta_of(statistics), meta_of(statistics)};
}

std::array<OutputMeta, 3> native_layer_norm_backward(const TensorBase&, const TensorBase& input,
                                                     IntArrayRef normalized_shape, const TensorBase&, const TensorBase&,
                                                     const TensorBase&, const TensorBase&, ArrayRef<bool> output_mask) {
  return {output_mask[0] ? meta_of(input.sizes()) : meta_undefined(),
          output_mask[1] ? meta_of(normalized_shape) : meta_undefined(),
          output_mask[2] ? meta_of(normalized_shape) : meta_undefined()};
}

}  // namespace keyway::inline v1::rules
