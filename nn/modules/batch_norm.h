// BatchNorm1d, 2d, 3d: mean 0 and variance 1 of each channel over a batch, then a scale and a shift of each channel.
// InstanceNorm1d, 2d, 3d: the same over each sample by itself.
#pragma once

#include <keyway/nn/module.h>
#include <keyway/nn/option.h>

#include <optional>

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
  // `what` is the class, whose inputs have from `least` to `most` dimensions.
  NormBase(BatchNormOptions options, const char* what, std::int64_t least, std::int64_t most);
  void check_dims(const Tensor& input) const;

  const char* what_;
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

// [batch, channels] or [batch, channels, length].
class KEYWAY_API BatchNorm1dImpl : public BatchNormBase {
 public:
  explicit BatchNorm1dImpl(BatchNormOptions options_) : BatchNormBase(options_, "BatchNorm1d", 2, 3) {}
};
using BatchNorm1d = ModuleHolder<BatchNorm1dImpl>;

// [batch, channels, height, width].
class KEYWAY_API BatchNorm2dImpl : public BatchNormBase {
 public:
  explicit BatchNorm2dImpl(BatchNormOptions options_) : BatchNormBase(options_, "BatchNorm2d", 4, 4) {}
};
using BatchNorm2d = ModuleHolder<BatchNorm2dImpl>;

// [batch, channels, depth, height, width].
class KEYWAY_API BatchNorm3dImpl : public BatchNormBase {
 public:
  explicit BatchNorm3dImpl(BatchNormOptions options_) : BatchNormBase(options_, "BatchNorm3d", 5, 5) {}
};
using BatchNorm3d = ModuleHolder<BatchNorm3dImpl>;

class KEYWAY_API InstanceNormBase : public NormBase {
 public:
  // The same shape, with or without a batch. Throws keyway::Error for other dimensions.
  Tensor forward(const Tensor& input);

 protected:
  using NormBase::NormBase;
};

// [batch, channels, length] or [channels, length].
class KEYWAY_API InstanceNorm1dImpl : public InstanceNormBase {
 public:
  explicit InstanceNorm1dImpl(std::int64_t num_features) : InstanceNorm1dImpl(InstanceNormOptions(num_features)) {}
  explicit InstanceNorm1dImpl(BatchNormOptions options_) : InstanceNormBase(options_, "InstanceNorm1d", 2, 3) {}
};
using InstanceNorm1d = ModuleHolder<InstanceNorm1dImpl>;

class KEYWAY_API InstanceNorm2dImpl : public InstanceNormBase {
 public:
  explicit InstanceNorm2dImpl(std::int64_t num_features) : InstanceNorm2dImpl(InstanceNormOptions(num_features)) {}
  explicit InstanceNorm2dImpl(BatchNormOptions options_) : InstanceNormBase(options_, "InstanceNorm2d", 3, 4) {}
};
using InstanceNorm2d = ModuleHolder<InstanceNorm2dImpl>;

class KEYWAY_API InstanceNorm3dImpl : public InstanceNormBase {
 public:
  explicit InstanceNorm3dImpl(std::int64_t num_features) : InstanceNorm3dImpl(InstanceNormOptions(num_features)) {}
  explicit InstanceNorm3dImpl(BatchNormOptions options_) : InstanceNormBase(options_, "InstanceNorm3d", 4, 5) {}
};
using InstanceNorm3d = ModuleHolder<InstanceNorm3dImpl>;

}  // namespace keyway::inline v1::nn
