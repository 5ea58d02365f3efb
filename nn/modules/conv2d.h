// Conv2d: cross-correlation of images with learned kernels.
#pragma once

#include <keyway/nn/expanding_array.h>
#include <keyway/nn/module.h>
#include <keyway/nn/option.h>

namespace keyway::inline v1::nn {

class Conv2dOptions {
 public:
  Conv2dOptions(std::int64_t in_channels, std::int64_t out_channels, ExpandingArray<2> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}
  KEYWAY_OPTION(std::int64_t, in_channels);
  KEYWAY_OPTION(std::int64_t, out_channels);
  KEYWAY_OPTION(ExpandingArray<2>, kernel_size);
  KEYWAY_OPTION(ExpandingArray<2>, stride) = 1;
  KEYWAY_OPTION(ExpandingArray<2>, padding) = 0;
  KEYWAY_OPTION(ExpandingArray<2>, dilation) = 1;
  KEYWAY_OPTION(std::int64_t, groups) = 1;
  KEYWAY_OPTION(bool, bias) = true;
};

// weight is [out_channels, in_channels / groups, kernel height, kernel width], bias [out_channels]; both begin uniform
// in
// +-1/sqrt(inputs of one output).
class KEYWAY_API Conv2dImpl : public Module {
 public:
  Conv2dImpl(std::int64_t in_channels, std::int64_t out_channels, ExpandingArray<2> kernel_size)
      : Conv2dImpl(Conv2dOptions(in_channels, out_channels, kernel_size)) {}
  // Throws keyway::Error if groups does not divide the channels.
  explicit Conv2dImpl(Conv2dOptions options);

  void reset_parameters();
  // [batch, in_channels, height, width] to [batch, out_channels, ...].
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;

  Conv2dOptions options;
  Tensor weight;
  Tensor bias;  // undefined if there is none
};
using Conv2d = ModuleHolder<Conv2dImpl>;

}  // namespace keyway::inline v1::nn
