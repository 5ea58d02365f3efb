// Modules of images: made larger, as patches, and with channels as pixels.
#pragma once

#include <keyway/nn/functional/vision.h>
#include <keyway/nn/module.h>
#include <keyway/nn/modules/with_options.h>
#include <keyway/nn/option.h>

namespace keyway::inline v1::nn {

// What functional::interpolate takes.
using UpsampleOptions = functional::InterpolateFuncOptions;
KEYWAY_MODULE(Upsample, WithOptions<UpsampleOptions>, Tensor forward(const Tensor& input));

class PixelShuffleOptions {
 public:
  PixelShuffleOptions(std::int64_t upscale_factor) : upscale_factor_(upscale_factor) {}  // NOLINT
  KEYWAY_OPTION(std::int64_t, upscale_factor);
};
// Channels [..., C * r * r, H, W] as pixels [..., C, H * r, W * r], with r the upscale_factor (Shi et al., 2016).
KEYWAY_MODULE(PixelShuffle, WithOptions<PixelShuffleOptions>, Tensor forward(const Tensor& input));

class PixelUnshuffleOptions {
 public:
  PixelUnshuffleOptions(std::int64_t downscale_factor) : downscale_factor_(downscale_factor) {}  // NOLINT
  KEYWAY_OPTION(std::int64_t, downscale_factor);
};
// Pixels [..., C, H * r, W * r] as channels [..., C * r * r, H, W], with r the downscale_factor.
KEYWAY_MODULE(PixelUnshuffle, WithOptions<PixelUnshuffleOptions>, Tensor forward(const Tensor& input));

class ChannelShuffleOptions {
 public:
  ChannelShuffleOptions(std::int64_t groups) : groups_(groups) {}  // NOLINT
  KEYWAY_OPTION(std::int64_t, groups);
};
// Groups of channels dealt out in turn: the first of each, then the second.
KEYWAY_MODULE(ChannelShuffle, WithOptions<ChannelShuffleOptions>, Tensor forward(const Tensor& input));

class UnfoldOptions {
 public:
  UnfoldOptions(ExpandingArray<2> kernel_size) : kernel_size_(kernel_size) {}  // NOLINT
  KEYWAY_OPTION(ExpandingArray<2>, kernel_size);
  KEYWAY_OPTION(ExpandingArray<2>, dilation) = 1;
  KEYWAY_OPTION(ExpandingArray<2>, padding) = 0;
  KEYWAY_OPTION(ExpandingArray<2>, stride) = 1;
};
// Each window of images as a column: functional::unfold.
KEYWAY_MODULE(Unfold, WithOptions<UnfoldOptions>, Tensor forward(const Tensor& input));

class FoldOptions {
 public:
  FoldOptions(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size)
      : output_size_(output_size), kernel_size_(kernel_size) {}
  KEYWAY_OPTION(ExpandingArray<2>, output_size);
  KEYWAY_OPTION(ExpandingArray<2>, kernel_size);
  KEYWAY_OPTION(ExpandingArray<2>, dilation) = 1;
  KEYWAY_OPTION(ExpandingArray<2>, padding) = 0;
  KEYWAY_OPTION(ExpandingArray<2>, stride) = 1;
};
// Images out of columns, added up where windows overlap: functional::fold.
KEYWAY_MODULE(Fold, WithOptions<FoldOptions>, Tensor forward(const Tensor& input));

}  // namespace keyway::inline v1::nn
