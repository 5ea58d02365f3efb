// Conv1d, Conv2d, Conv3d: cross-correlation with learned kernels. ConvTranspose1d, 2d, 3d: the transposed map, which
// makes of each element a patch.
#pragma once

#include <keyway/nn/expanding_array.h>
#include <keyway/nn/module.h>
#include <keyway/nn/modules/conv_padding.h>
#include <keyway/nn/option.h>

#include <optional>
#include <string>
#include <vector>

namespace keyway::inline v1::nn {

template <std::size_t D>
class KEYWAY_API ConvOptions {
 public:
  static constexpr std::size_t kDims = D;
  static constexpr bool kTransposed = false;
  ConvOptions(std::int64_t in_channels, std::int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}
  KEYWAY_OPTION(std::int64_t, in_channels);
  KEYWAY_OPTION(std::int64_t, out_channels);
  KEYWAY_OPTION(ExpandingArray<D>, kernel_size);
  KEYWAY_OPTION(ExpandingArray<D>, stride) = 1;
  KEYWAY_OPTION(ConvPadding<D>, padding) = 0;
  KEYWAY_OPTION(ExpandingArray<D>, dilation) = 1;
  KEYWAY_OPTION(std::int64_t, groups) = 1;
  KEYWAY_OPTION(bool, bias) = true;
  // What the padding is filled with: "zeros", "reflect", "replicate" or "circular".
  KEYWAY_OPTION(std::string, padding_mode) = "zeros";
};
using Conv1dOptions = ConvOptions<1>;
using Conv2dOptions = ConvOptions<2>;
using Conv3dOptions = ConvOptions<3>;

template <std::size_t D>
class KEYWAY_API ConvTransposeOptions {
 public:
  static constexpr std::size_t kDims = D;
  static constexpr bool kTransposed = true;
  ConvTransposeOptions(std::int64_t in_channels, std::int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}
  KEYWAY_OPTION(std::int64_t, in_channels);
  KEYWAY_OPTION(std::int64_t, out_channels);
  KEYWAY_OPTION(ExpandingArray<D>, kernel_size);
  KEYWAY_OPTION(ExpandingArray<D>, stride) = 1;
  // What is left out at each side of the result, and what is added to its end.
  KEYWAY_OPTION(ExpandingArray<D>, padding) = 0;
  KEYWAY_OPTION(ExpandingArray<D>, output_padding) = 0;
  KEYWAY_OPTION(ExpandingArray<D>, dilation) = 1;
  KEYWAY_OPTION(std::int64_t, groups) = 1;
  KEYWAY_OPTION(bool, bias) = true;
  KEYWAY_OPTION(std::string, padding_mode) = "zeros";  // there is no other
};
using ConvTranspose1dOptions = ConvTransposeOptions<1>;
using ConvTranspose2dOptions = ConvTransposeOptions<2>;
using ConvTranspose3dOptions = ConvTransposeOptions<3>;

// What all share. weight is [out_channels, in_channels / groups, kernel...], transposed [in_channels, out_channels /
// groups, kernel...], bias [out_channels]; both begin uniform in +-1/sqrt(weight's elements behind the first
// dimension).
template <typename Options>
class KEYWAY_API ConvNd : public Module {
 public:
  ConvNd(std::int64_t in_channels, std::int64_t out_channels, ExpandingArray<Options::kDims> kernel_size)
      : ConvNd(Options(in_channels, out_channels, kernel_size)) {}
  // Throws keyway::Error if groups does not divide the channels, for an unknown padding_mode or name of a padding, and
  // for padding "same" with a stride.
  explicit ConvNd(Options options);

  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;

  Options options;
  Tensor weight;
  Tensor bias;  // undefined if there is none
};

// [batch, in_channels, length] to [batch, out_channels, ...]; without batch as well.
KEYWAY_MODULE(Conv1d, ConvNd<Conv1dOptions>, Tensor forward(const Tensor& input));

// The same of [batch, in_channels, height, width].
KEYWAY_MODULE(Conv2d, ConvNd<Conv2dOptions>, Tensor forward(const Tensor& input));

// The same of [batch, in_channels, depth, height, width].
KEYWAY_MODULE(Conv3d, ConvNd<Conv3dOptions>, Tensor forward(const Tensor& input));

// `output_size` has the last sizes of the result, of those that a stride allows; it stands for output_padding.
KEYWAY_MODULE(ConvTranspose1d, ConvNd<ConvTranspose1dOptions>,
              Tensor forward(const Tensor& input, const std::optional<std::vector<std::int64_t>>& output_size = {}));

KEYWAY_MODULE(ConvTranspose2d, ConvNd<ConvTranspose2dOptions>,
              Tensor forward(const Tensor& input, const std::optional<std::vector<std::int64_t>>& output_size = {}));

KEYWAY_MODULE(ConvTranspose3d, ConvNd<ConvTranspose3dOptions>,
              Tensor forward(const Tensor& input, const std::optional<std::vector<std::int64_t>>& output_size = {}));

}  // namespace keyway::inline v1::nn
