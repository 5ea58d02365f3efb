#include <keyway/nn/modules/vision.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::nn {

Tensor UpsampleImpl::forward(const Tensor& input) { return functional::interpolate(input, options); }

Tensor PixelShuffleImpl::forward(const Tensor& input) { return pixel_shuffle(input, options.upscale_factor()); }

Tensor PixelUnshuffleImpl::forward(const Tensor& input) { return pixel_unshuffle(input, options.downscale_factor()); }

Tensor ChannelShuffleImpl::forward(const Tensor& input) { return channel_shuffle(input, options.groups()); }

Tensor UnfoldImpl::forward(const Tensor& input) {
  return functional::unfold(input, options.kernel_size(), options.dilation(), options.padding(), options.stride());
}

Tensor FoldImpl::forward(const Tensor& input) {
  return functional::fold(input, options.output_size(), options.kernel_size(), options.dilation(), options.padding(),
                          options.stride());
}

}  // namespace keyway::inline v1::nn
