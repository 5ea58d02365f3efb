// LayerNorm: mean 0 and variance 1 over the last dimensions, then a scale and a shift of each element.
#pragma once

#include <keyway/nn/module.h>
#include <keyway/nn/option.h>

#include <vector>

namespace keyway::inline v1::nn {

class LayerNormOptions {
 public:
  LayerNormOptions(std::vector<std::int64_t> normalized_shape)  // NOLINT
      : normalized_shape_(std::move(normalized_shape)) {}
  KEYWAY_OPTION(std::vector<std::int64_t>, normalized_shape);
  KEYWAY_OPTION(double, eps) = 1e-5;
  KEYWAY_OPTION(bool, elementwise_affine) = true;
  KEYWAY_OPTION(bool, bias) = true;  // where there is a weight
};

// weight (ones at first) and bias (zeros) have the normalized shape; undefined if not elementwise_affine, the bias also
// without `bias`.
class KEYWAY_API LayerNormImpl : public Module {
 public:
  LayerNormImpl(std::vector<std::int64_t> normalized_shape)  // NOLINT
      : LayerNormImpl(LayerNormOptions(std::move(normalized_shape))) {}
  explicit LayerNormImpl(LayerNormOptions options);

  void reset_parameters();
  // [..., normalized shape] to the same.
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;

  LayerNormOptions options;
  Tensor weight;
  Tensor bias;
};
using LayerNorm = ModuleHolder<LayerNormImpl>;

}  // namespace keyway::inline v1::nn
