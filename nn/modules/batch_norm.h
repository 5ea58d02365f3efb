// BatchNorm1d, 2d, 3d: mean 0 and variance 1 of each channel over a batch, then a scale and a shift of each channel.
// InstanceNorm1d, 2d, 3d: the same over each sample by itself.
#pragma once

#include <keyway/nn/module.h>
#include <keyway/nn/option.h>

#include <optional>
#include <string>

namespace keyway::inline v1::nn {

class BatchNormOptions {
 public:
  BatchNormOptions(std::int64_t num_features) : num_features_(num_features) {}  // NOLINT
  KEYWAY_OPTION(std::int64_t, num_features);
  KEYWAY_OPTION(double, eps) = 1e-5;
  // The part of each batch that goes into the running statistics; nullopt: such that they are the mean of all batches.
  KEYWAY_OPTION(std::optional<double>, momentum) = 0.1;
  KEYWAY_OPTION(bool, affine) = true;
  KEYWAY_OPTION(bool, bias) = true;  // where there is a weight
  KEYWAY_OPTION(bool, track_running_stats) = true;
};
class InstanceNormOptions : public BatchNormOptions {
 public:
  InstanceNormOptions(std::int64_t num_features) : BatchNormOptions(num_features) {  // NOLINT
    affine(false).track_running_stats(false);
  }
};

// What both share. weight (ones at first) and bias (zeros) are [num_features], undefined if not affine, the bias also
// without `bias`. The buffers running_mean, running_var and num_batches_tracked, undefined if not tracked, stand for
// the statistics of a batch when not training.
class KEYWAY_API NormBase : public Module {
 public:
  void reset_running_stats();
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;

  BatchNormOptions options;
  Tensor weight, bias;
  Tensor running_mean, running_var, num_batches_tracked;

 protected:
  // Inputs have from `least` dimensions to `dims` behind batch and channels.
  NormBase(BatchNormOptions options, const char* kind, std::int64_t dims, std::int64_t least);
  void check_dims(const Tensor& input) const;

  std::string what_;  // the class
  std::int64_t least_, most_;
};

class KEYWAY_API BatchNormBase : public NormBase {
 public:
  // The same shape. While training a channel needs two elements. Throws keyway::Error for other dimensions.
  Tensor forward(const Tensor& input);

 protected:
  using NormBase::NormBase;

 private:
  double count_batch();
};

template <std::int64_t D>
class KEYWAY_API BatchNormNd : public BatchNormBase {
 public:
  explicit BatchNormNd(BatchNormOptions options_) : BatchNormBase(options_, "BatchNorm", D, D == 1 ? 2 : D + 2) {}
};

// [batch, channels] or [batch, channels, length].
KEYWAY_MODULE(BatchNorm1d, BatchNormNd<1>);

// [batch, channels, height, width].
KEYWAY_MODULE(BatchNorm2d, BatchNormNd<2>);

// [batch, channels, depth, height, width].
KEYWAY_MODULE(BatchNorm3d, BatchNormNd<3>);

class KEYWAY_API InstanceNormBase : public NormBase {
 public:
  // The same shape, with or without a batch. Throws keyway::Error for other dimensions.
  Tensor forward(const Tensor& input);

 protected:
  using NormBase::NormBase;
};

template <std::int64_t D>
class KEYWAY_API InstanceNormNd : public InstanceNormBase {
 public:
  explicit InstanceNormNd(std::int64_t num_features) : InstanceNormNd(InstanceNormOptions(num_features)) {}
  explicit InstanceNormNd(BatchNormOptions options_) : InstanceNormBase(options_, "InstanceNorm", D, D + 1) {}
};

// [batch, channels, length] or [channels, length].
KEYWAY_MODULE(InstanceNorm1d, InstanceNormNd<1>);
KEYWAY_MODULE(InstanceNorm2d, InstanceNormNd<2>);
KEYWAY_MODULE(InstanceNorm3d, InstanceNormNd<3>);

}  // namespace keyway::inline v1::nn
