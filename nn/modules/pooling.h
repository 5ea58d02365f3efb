// Pooling: the greatest or the mean of windows of [batch, channels, positions...], with or without a batch. Adaptive
// ones choose windows so that there are output_size of them.
#pragma once

#include <keyway/nn/expanding_array.h>
#include <keyway/nn/module.h>
#include <keyway/nn/option.h>

#include <optional>
#include <tuple>
#include <vector>

namespace keyway::inline v1::nn {

template <std::size_t D>
class KEYWAY_API MaxPoolOptions {
 public:
  static constexpr std::size_t kDims = D;
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
  static constexpr std::size_t kDims = D;
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
  static constexpr std::size_t kDims = D;
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

// A module with options, of which the first one may stand for all, and no parameters.
template <typename Options>
class KEYWAY_API PoolNd : public Module {
 public:
  PoolNd(ExpandingArray<Options::kDims> sizes) : options(sizes) {}  // NOLINT
  explicit PoolNd(Options options_) : options(options_) {}
  Options options;
};

class KEYWAY_API MaxPool1dImpl : public PoolNd<MaxPoolOptions<1>> {
 public:
  using PoolNd::PoolNd;
  Tensor forward(const Tensor& input);
  // Also where each is, counted over the pooled dimensions.
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);
};
using MaxPool1d = ModuleHolder<MaxPool1dImpl>;

class KEYWAY_API MaxPool2dImpl : public PoolNd<MaxPoolOptions<2>> {
 public:
  using PoolNd::PoolNd;
  Tensor forward(const Tensor& input);
  // Also where each is, counted over the pooled dimensions.
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);
};
using MaxPool2d = ModuleHolder<MaxPool2dImpl>;

class KEYWAY_API MaxPool3dImpl : public PoolNd<MaxPoolOptions<3>> {
 public:
  using PoolNd::PoolNd;
  Tensor forward(const Tensor& input);
  // Also where each is, counted over the pooled dimensions.
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);
};
using MaxPool3d = ModuleHolder<MaxPool3dImpl>;

class KEYWAY_API AvgPool1dImpl : public PoolNd<AvgPoolOptions<1>> {
 public:
  using PoolNd::PoolNd;
  Tensor forward(const Tensor& input);
};
using AvgPool1d = ModuleHolder<AvgPool1dImpl>;

class KEYWAY_API AvgPool2dImpl : public PoolNd<AvgPoolOptions<2>> {
 public:
  using PoolNd::PoolNd;
  Tensor forward(const Tensor& input);
};
using AvgPool2d = ModuleHolder<AvgPool2dImpl>;

class KEYWAY_API AvgPool3dImpl : public PoolNd<AvgPoolOptions<3>> {
 public:
  using PoolNd::PoolNd;
  Tensor forward(const Tensor& input);
};
using AvgPool3d = ModuleHolder<AvgPool3dImpl>;

class KEYWAY_API AdaptiveMaxPool1dImpl : public PoolNd<AdaptiveMaxPoolOptions<1>> {
 public:
  using PoolNd::PoolNd;
  Tensor forward(const Tensor& input);
  // Also where each is, counted over the pooled dimensions.
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);
};
using AdaptiveMaxPool1d = ModuleHolder<AdaptiveMaxPool1dImpl>;

class KEYWAY_API AdaptiveMaxPool2dImpl : public PoolNd<AdaptiveMaxPoolOptions<2>> {
 public:
  using PoolNd::PoolNd;
  Tensor forward(const Tensor& input);
  // Also where each is, counted over the pooled dimensions.
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);
};
using AdaptiveMaxPool2d = ModuleHolder<AdaptiveMaxPool2dImpl>;

class KEYWAY_API AdaptiveMaxPool3dImpl : public PoolNd<AdaptiveMaxPoolOptions<3>> {
 public:
  using PoolNd::PoolNd;
  Tensor forward(const Tensor& input);
  // Also where each is, counted over the pooled dimensions.
  std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);
};
using AdaptiveMaxPool3d = ModuleHolder<AdaptiveMaxPool3dImpl>;

class KEYWAY_API AdaptiveAvgPool1dImpl : public PoolNd<AdaptiveAvgPoolOptions<1>> {
 public:
  using PoolNd::PoolNd;
  Tensor forward(const Tensor& input);
};
using AdaptiveAvgPool1d = ModuleHolder<AdaptiveAvgPool1dImpl>;

class KEYWAY_API AdaptiveAvgPool2dImpl : public PoolNd<AdaptiveAvgPoolOptions<2>> {
 public:
  using PoolNd::PoolNd;
  Tensor forward(const Tensor& input);
};
using AdaptiveAvgPool2d = ModuleHolder<AdaptiveAvgPool2dImpl>;

class KEYWAY_API AdaptiveAvgPool3dImpl : public PoolNd<AdaptiveAvgPoolOptions<3>> {
 public:
  using PoolNd::PoolNd;
  Tensor forward(const Tensor& input);
};
using AdaptiveAvgPool3d = ModuleHolder<AdaptiveAvgPool3dImpl>;

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
class KEYWAY_API LPPoolNd : public Module {
 public:
  LPPoolNd(double norm_type, ExpandingArray<D> kernel_size) : options(norm_type, kernel_size) {}
  explicit LPPoolNd(LPPoolOptions<D> options_) : options(options_) {}
  Tensor forward(const Tensor& input);
  LPPoolOptions<D> options;
};
extern template class LPPoolNd<1>;
extern template class LPPoolNd<2>;
extern template class LPPoolNd<3>;

template <std::size_t D>
class KEYWAY_API MaxUnpoolOptions {
 public:
  static constexpr std::size_t kDims = D;
  MaxUnpoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}  // NOLINT
  KEYWAY_OPTION(ExpandingArray<D>, kernel_size);
  KEYWAY_OPTION(ExpandingArray<D>, stride);  // kernel_size at first
  KEYWAY_OPTION(ExpandingArray<D>, padding) = 0;
};

// What a MaxPool has taken, back at its positions, with the indices that it gives; zeros between them. `output_size`
// has the sizes of the result, if it is not the least that has as many windows.
template <std::size_t D>
class KEYWAY_API MaxUnpoolNd : public PoolNd<MaxUnpoolOptions<D>> {
 public:
  using PoolNd<MaxUnpoolOptions<D>>::PoolNd;
  Tensor forward(const Tensor& input, const Tensor& indices,
                 const std::optional<std::vector<std::int64_t>>& output_size = {});
};
extern template class MaxUnpoolNd<1>;
extern template class MaxUnpoolNd<2>;
extern template class MaxUnpoolNd<3>;

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
extern template class FractionalMaxPoolNd<2>;
extern template class FractionalMaxPoolNd<3>;

class KEYWAY_API LPPool1dImpl : public LPPoolNd<1> {
 public:
  using LPPoolNd::LPPoolNd;
};
using LPPool1dOptions = LPPoolOptions<1>;
using LPPool1d = ModuleHolder<LPPool1dImpl>;

class KEYWAY_API LPPool2dImpl : public LPPoolNd<2> {
 public:
  using LPPoolNd::LPPoolNd;
};
using LPPool2dOptions = LPPoolOptions<2>;
using LPPool2d = ModuleHolder<LPPool2dImpl>;

class KEYWAY_API LPPool3dImpl : public LPPoolNd<3> {
 public:
  using LPPoolNd::LPPoolNd;
};
using LPPool3dOptions = LPPoolOptions<3>;
using LPPool3d = ModuleHolder<LPPool3dImpl>;

class KEYWAY_API MaxUnpool1dImpl : public MaxUnpoolNd<1> {
 public:
  using MaxUnpoolNd::MaxUnpoolNd;
};
using MaxUnpool1dOptions = MaxUnpoolOptions<1>;
using MaxUnpool1d = ModuleHolder<MaxUnpool1dImpl>;

class KEYWAY_API MaxUnpool2dImpl : public MaxUnpoolNd<2> {
 public:
  using MaxUnpoolNd::MaxUnpoolNd;
};
using MaxUnpool2dOptions = MaxUnpoolOptions<2>;
using MaxUnpool2d = ModuleHolder<MaxUnpool2dImpl>;

class KEYWAY_API MaxUnpool3dImpl : public MaxUnpoolNd<3> {
 public:
  using MaxUnpoolNd::MaxUnpoolNd;
};
using MaxUnpool3dOptions = MaxUnpoolOptions<3>;
using MaxUnpool3d = ModuleHolder<MaxUnpool3dImpl>;

class KEYWAY_API FractionalMaxPool2dImpl : public FractionalMaxPoolNd<2> {
 public:
  using FractionalMaxPoolNd::FractionalMaxPoolNd;
};
using FractionalMaxPool2dOptions = FractionalMaxPoolOptions<2>;
using FractionalMaxPool2d = ModuleHolder<FractionalMaxPool2dImpl>;

class KEYWAY_API FractionalMaxPool3dImpl : public FractionalMaxPoolNd<3> {
 public:
  using FractionalMaxPoolNd::FractionalMaxPoolNd;
};
using FractionalMaxPool3dOptions = FractionalMaxPoolOptions<3>;
using FractionalMaxPool3d = ModuleHolder<FractionalMaxPool3dImpl>;

}  // namespace keyway::inline v1::nn
