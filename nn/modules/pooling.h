// Pooling: the greatest or the mean of windows of [batch, channels, positions...], with or without a batch. Adaptive
// ones choose windows so that there are output_size of them.
#pragma once

#include <keyway/nn/expanding_array.h>
#include <keyway/nn/module.h>
#include <keyway/nn/modules/with_options.h>
#include <keyway/nn/option.h>

#include <optional>
#include <tuple>
#include <vector>

namespace keyway::inline v1::nn {

template <std::size_t D>
class KEYWAY_API MaxPoolOptions {
 public:
  MaxPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}  // NOLINT
  KEYWAY_OPTION(ExpandingArray<D>, kernel_size);
  KEYWAY_OPTION(ExpandingArray<D>, stride);  // kernel_size at first
  KEYWAY_OPTION(ExpandingArray<D>, padding) = 0;
  KEYWAY_OPTION(ExpandingArray<D>, dilation) = 1;
  KEYWAY_OPTION(bool, ceil_mode) = false;  // the last window may reach beyond the end
};
using MaxPool1dOptions = MaxPoolOptions<1>;
using MaxPool2dOptions = MaxPoolOptions<2>;
using MaxPool3dOptions = MaxPoolOptions<3>;

template <std::size_t D>
class KEYWAY_API AvgPoolOptions {
 public:
  AvgPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}  // NOLINT
  KEYWAY_OPTION(ExpandingArray<D>, kernel_size);
  KEYWAY_OPTION(ExpandingArray<D>, stride);  // kernel_size at first
  KEYWAY_OPTION(ExpandingArray<D>, padding) = 0;
  KEYWAY_OPTION(bool, ceil_mode) = false;
  KEYWAY_OPTION(bool, count_include_pad) = true;
  // What a sum is divided by instead of its window's size; not in one dimension.
  KEYWAY_OPTION(std::optional<std::int64_t>, divisor_override);
};
using AvgPool1dOptions = AvgPoolOptions<1>;
using AvgPool2dOptions = AvgPoolOptions<2>;
using AvgPool3dOptions = AvgPoolOptions<3>;

template <std::size_t D>
class KEYWAY_API AdaptivePoolOptions {
 public:
  using OutputSize = ExpandingArrayWithOptionalElem<D>;
  AdaptivePoolOptions(OutputSize output_size) : output_size_(output_size) {}  // NOLINT
  KEYWAY_OPTION(OutputSize, output_size);                                     // an absent one keeps the input's
};
template <std::size_t D>
using AdaptiveAvgPoolOptions = AdaptivePoolOptions<D>;
template <std::size_t D>
using AdaptiveMaxPoolOptions = AdaptivePoolOptions<D>;
using AdaptiveAvgPool1dOptions = AdaptivePoolOptions<1>;
using AdaptiveAvgPool2dOptions = AdaptivePoolOptions<2>;
using AdaptiveAvgPool3dOptions = AdaptivePoolOptions<3>;
using AdaptiveMaxPool1dOptions = AdaptivePoolOptions<1>;
using AdaptiveMaxPool2dOptions = AdaptivePoolOptions<2>;
using AdaptiveMaxPool3dOptions = AdaptivePoolOptions<3>;

template <std::size_t D>
class KEYWAY_API MaxPoolNd : public WithOptions<MaxPoolOptions<D>> {
 public:
  using WithOptions<MaxPoolOptions<D>>::WithOptions;
  Tensor forward(const Tensor& input);
  // Also where each is, counted over the pooled dimensions.
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);
};
KEYWAY_MODULE(MaxPool1d, MaxPoolNd<1>);
KEYWAY_MODULE(MaxPool2d, MaxPoolNd<2>);
KEYWAY_MODULE(MaxPool3d, MaxPoolNd<3>);

template <std::size_t D>
class KEYWAY_API AvgPoolNd : public WithOptions<AvgPoolOptions<D>> {
 public:
  using WithOptions<AvgPoolOptions<D>>::WithOptions;
  Tensor forward(const Tensor& input);
};
KEYWAY_MODULE(AvgPool1d, AvgPoolNd<1>);
KEYWAY_MODULE(AvgPool2d, AvgPoolNd<2>);
KEYWAY_MODULE(AvgPool3d, AvgPoolNd<3>);

template <std::size_t D>
class KEYWAY_API AdaptiveMaxPoolNd : public WithOptions<AdaptivePoolOptions<D>> {
 public:
  using WithOptions<AdaptivePoolOptions<D>>::WithOptions;
  Tensor forward(const Tensor& input) { return std::get<0>(forward_with_indices(input)); }
  // Also where each is, counted over the pooled dimensions.
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);
};
KEYWAY_MODULE(AdaptiveMaxPool1d, AdaptiveMaxPoolNd<1>);
KEYWAY_MODULE(AdaptiveMaxPool2d, AdaptiveMaxPoolNd<2>);
KEYWAY_MODULE(AdaptiveMaxPool3d, AdaptiveMaxPoolNd<3>);

template <std::size_t D>
class KEYWAY_API AdaptiveAvgPoolNd : public WithOptions<AdaptivePoolOptions<D>> {
 public:
  using WithOptions<AdaptivePoolOptions<D>>::WithOptions;
  Tensor forward(const Tensor& input);
};
KEYWAY_MODULE(AdaptiveAvgPool1d, AdaptiveAvgPoolNd<1>);
KEYWAY_MODULE(AdaptiveAvgPool2d, AdaptiveAvgPoolNd<2>);
KEYWAY_MODULE(AdaptiveAvgPool3d, AdaptiveAvgPoolNd<3>);

template <std::size_t D>
class KEYWAY_API LPPoolOptions {
 public:
  LPPoolOptions(double norm_type, ExpandingArray<D> kernel_size)
      : norm_type_(norm_type), kernel_size_(kernel_size), stride_(kernel_size) {}
  KEYWAY_OPTION(double, norm_type);
  KEYWAY_OPTION(ExpandingArray<D>, kernel_size);
  KEYWAY_OPTION(ExpandingArray<D>, stride);  // kernel_size at first
  KEYWAY_OPTION(bool, ceil_mode) = false;
};

// The root of the sum of powers of each window.
template <std::size_t D>
class KEYWAY_API LPPoolNd : public WithOptions<LPPoolOptions<D>> {
 public:
  using WithOptions<LPPoolOptions<D>>::WithOptions;
  Tensor forward(const Tensor& input);
};
using LPPool1dOptions = LPPoolOptions<1>;
using LPPool2dOptions = LPPoolOptions<2>;
using LPPool3dOptions = LPPoolOptions<3>;
KEYWAY_MODULE(LPPool1d, LPPoolNd<1>);
KEYWAY_MODULE(LPPool2d, LPPoolNd<2>);
KEYWAY_MODULE(LPPool3d, LPPoolNd<3>);

template <std::size_t D>
class KEYWAY_API MaxUnpoolOptions {
 public:
  MaxUnpoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}  // NOLINT
  KEYWAY_OPTION(ExpandingArray<D>, kernel_size);
  KEYWAY_OPTION(ExpandingArray<D>, stride);  // kernel_size at first
  KEYWAY_OPTION(ExpandingArray<D>, padding) = 0;
};

// What a MaxPool has taken, back at its positions, with the indices that it gives; zeros between them. `output_size`
// has the sizes of the result, if it is not the least that has as many windows.
template <std::size_t D>
class KEYWAY_API MaxUnpoolNd : public WithOptions<MaxUnpoolOptions<D>> {
 public:
  using WithOptions<MaxUnpoolOptions<D>>::WithOptions;
  Tensor forward(const Tensor& input, const Tensor& indices,
                 const std::optional<std::vector<std::int64_t>>& output_size = {});
};
using MaxUnpool1dOptions = MaxUnpoolOptions<1>;
using MaxUnpool2dOptions = MaxUnpoolOptions<2>;
using MaxUnpool3dOptions = MaxUnpoolOptions<3>;
KEYWAY_MODULE(MaxUnpool1d, MaxUnpoolNd<1>);
KEYWAY_MODULE(MaxUnpool2d, MaxUnpoolNd<2>);
KEYWAY_MODULE(MaxUnpool3d, MaxUnpoolNd<3>);

template <std::size_t D>
class KEYWAY_API FractionalMaxPoolOptions {
 public:
  FractionalMaxPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size) {}  // NOLINT
  using Sizes = ExpandingArray<D>;
  using Ratios = std::vector<double>;
  KEYWAY_OPTION(Sizes, kernel_size);
  // One of both is given: sizes, or what the input's are multiplied by, one number or one for each dimension.
  KEYWAY_OPTION(std::optional<Sizes>, output_size);
  KEYWAY_OPTION(std::optional<Ratios>, output_ratio);
};

// The greatest of windows spread over planes or volumes by pseudorandom steps (Graham, 2014).
template <std::size_t D>
class KEYWAY_API FractionalMaxPoolNd : public Module {
 public:
  // Throws keyway::Error unless one of output_size and output_ratio is given, and for ratios that are not between 0
  // and 1.
  explicit FractionalMaxPoolNd(FractionalMaxPoolOptions<D> options);
  Tensor forward(const Tensor& input) { return std::get<0>(forward_with_indices(input)); }
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);
  FractionalMaxPoolOptions<D> options;
};
using FractionalMaxPool2dOptions = FractionalMaxPoolOptions<2>;
using FractionalMaxPool3dOptions = FractionalMaxPoolOptions<3>;
KEYWAY_MODULE(FractionalMaxPool2d, FractionalMaxPoolNd<2>);
KEYWAY_MODULE(FractionalMaxPool3d, FractionalMaxPoolNd<3>);

}  // namespace keyway::inline v1::nn
