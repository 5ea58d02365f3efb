// GroupNorm: mean 0 and variance 1 of each group of channels of a sample, then a scale and a shift of each channel.
#pragma once

#include <keyway/nn/module.h>
#include <keyway/nn/option.h>

namespace keyway::inline v1::nn {

class GroupNormOptions {
 public:
  GroupNormOptions(std::int64_t num_groups, std::int64_t num_channels)
      : num_groups_(num_groups), num_channels_(num_channels) {}
  KEYWAY_OPTION(std::int64_t, num_groups);
  KEYWAY_OPTION(std::int64_t, num_channels);
  KEYWAY_OPTION(double, eps) = 1e-5;
  KEYWAY_OPTION(bool, affine) = true;
  KEYWAY_OPTION(bool, bias) = true;  // where there is a weight
};

// weight (ones at first) and bias (zeros) are [num_channels]; undefined if not affine, the bias also without `bias`.
class KEYWAY_API GroupNormImpl : public Module {
 public:
  GroupNormImpl(std::int64_t num_groups, std::int64_t num_channels)
      : GroupNormImpl(GroupNormOptions(num_groups, num_channels)) {}
  // Throws keyway::Error if num_groups does not divide the channels.
  explicit GroupNormImpl(GroupNormOptions options);

  void reset_parameters();
  // [batch, num_channels, ...] to the same.
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;

  GroupNormOptions options;
  Tensor weight;
  Tensor bias;
};
using GroupNorm = ModuleHolder<GroupNormImpl>;

}  // namespace keyway::inline v1::nn
