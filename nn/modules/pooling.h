// Pooling: the greatest or the mean of windows of [batch, channels, places...], with or without a batch. Adaptive ones
// choose windows so that there are output_size of them.
#pragma once

#include <keyway/nn/expanding_array.h>
#include <keyway/nn/module.h>
#include <keyway/nn/option.h>

#include <optional>

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
  // What a sum is divided by instead of its window's places; not in one dimension.
  KEYWAY_OPTION(std::optional<std::int64_t>, divisor_override);
};
using AvgPool1dOptions = AvgPoolOptions<1>;
using AvgPool2dOptions = AvgPoolOptions<2>;
using AvgPool3dOptions = AvgPoolOptions<3>;

template <std::size_t D>
class KEYWAY_API AdaptivePoolOptions {
 public:
  static constexpr std::size_t kDims = D;
  AdaptivePoolOptions(ExpandingArray<D> output_size) : output_size_(output_size) {}  // NOLINT
  KEYWAY_OPTION(ExpandingArray<D>, output_size);
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
};
using MaxPool1d = ModuleHolder<MaxPool1dImpl>;

class KEYWAY_API MaxPool2dImpl : public PoolNd<MaxPoolOptions<2>> {
 public:
  using PoolNd::PoolNd;
  Tensor forward(const Tensor& input);
};
using MaxPool2d = ModuleHolder<MaxPool2dImpl>;

class KEYWAY_API MaxPool3dImpl : public PoolNd<MaxPoolOptions<3>> {
 public:
  using PoolNd::PoolNd;
  Tensor forward(const Tensor& input);
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
};
using AdaptiveMaxPool1d = ModuleHolder<AdaptiveMaxPool1dImpl>;

class KEYWAY_API AdaptiveMaxPool2dImpl : public PoolNd<AdaptiveMaxPoolOptions<2>> {
 public:
  using PoolNd::PoolNd;
  Tensor forward(const Tensor& input);
};
using AdaptiveMaxPool2d = ModuleHolder<AdaptiveMaxPool2dImpl>;

class KEYWAY_API AdaptiveMaxPool3dImpl : public PoolNd<AdaptiveMaxPoolOptions<3>> {
 public:
  using PoolNd::PoolNd;
  Tensor forward(const Tensor& input);
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

}  // namespace keyway::inline v1::nn
