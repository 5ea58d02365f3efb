// RMSNorm: root mean square 1 over the last dimensions, then a scale of each element.
#pragma once

#include <keyway/nn/module.h>
#include <keyway/nn/option.h>

#include <optional>
#include <vector>

namespace keyway::inline v1::nn {

class RMSNormOptions {
 public:
  RMSNormOptions(std::vector<std::int64_t> normalized_shape)  // NOLINT
      : normalized_shape_(std::move(normalized_shape)) {}
  KEYWAY_OPTION(std::vector<std::int64_t>, normalized_shape);
  // Added to the mean of squares; absent: the difference between 1 and the next number of the dtype.
  KEYWAY_OPTION(std::optional<double>, eps);
  KEYWAY_OPTION(bool, elementwise_affine) = true;
};

// weight (ones at first) has the normalized shape; undefined if not elementwise_affine.
class KEYWAY_API RMSNormImpl : public Module {
 public:
  RMSNormImpl(std::vector<std::int64_t> normalized_shape)  // NOLINT
      : RMSNormImpl(RMSNormOptions(std::move(normalized_shape))) {}
  explicit RMSNormImpl(RMSNormOptions options);

  void reset_parameters();
  // [..., normalized shape] to the same.
  Tensor forward(const Tensor& input);

  RMSNormOptions options;
  Tensor weight;
};
using RMSNorm = ModuleHolder<RMSNormImpl>;

}  // namespace keyway::inline v1::nn
