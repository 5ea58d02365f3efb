// Activations as modules, for Sequential; elsewhere the operators do. Those with `inplace` may overwrite their input.
#pragma once

#include <keyway/nn/module.h>
#include <keyway/nn/modules/with_options.h>
#include <keyway/nn/option.h>

#include <string>

namespace keyway::inline v1::nn {

// 1 / (1 + exp(-x)).
class KEYWAY_API SigmoidImpl : public Module {
 public:
  Tensor forward(const Tensor& input);
};
using Sigmoid = ModuleHolder<SigmoidImpl>;

class KEYWAY_API TanhImpl : public Module {
 public:
  Tensor forward(const Tensor& input);
};
using Tanh = ModuleHolder<TanhImpl>;

// log(1 / (1 + exp(-x))).
class KEYWAY_API LogSigmoidImpl : public Module {
 public:
  Tensor forward(const Tensor& input);
};
using LogSigmoid = ModuleHolder<LogSigmoidImpl>;

// x / (1 + |x|).
class KEYWAY_API SoftsignImpl : public Module {
 public:
  Tensor forward(const Tensor& input);
};
using Softsign = ModuleHolder<SoftsignImpl>;

// x - tanh(x).
class KEYWAY_API TanhshrinkImpl : public Module {
 public:
  Tensor forward(const Tensor& input);
};
using Tanhshrink = ModuleHolder<TanhshrinkImpl>;

using ReLUOptions = InPlaceOptions;
// max(0, x).
class KEYWAY_API ReLUImpl : public WithOptions<ReLUOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input);
};
using ReLU = ModuleHolder<ReLUImpl>;

using SiLUOptions = InPlaceOptions;
// x / (1 + exp(-x)).
class KEYWAY_API SiLUImpl : public WithOptions<SiLUOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input);
};
using SiLU = ModuleHolder<SiLUImpl>;

using SELUOptions = InPlaceOptions;
// ELU with a scale and a slope that keep mean 0 and variance 1 (Klambauer et al., 2017).
class KEYWAY_API SELUImpl : public WithOptions<SELUOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input);
};
using SELU = ModuleHolder<SELUImpl>;

using MishOptions = InPlaceOptions;
// x tanh(log(1 + exp(x))).
class KEYWAY_API MishImpl : public WithOptions<MishOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input);
};
using Mish = ModuleHolder<MishImpl>;

using HardswishOptions = InPlaceOptions;
// x min(max(x + 3, 0), 6) / 6.
class KEYWAY_API HardswishImpl : public WithOptions<HardswishOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input);
};
using Hardswish = ModuleHolder<HardswishImpl>;

using HardsigmoidOptions = InPlaceOptions;
// min(max(x + 3, 0), 6) / 6.
class KEYWAY_API HardsigmoidImpl : public WithOptions<HardsigmoidOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input);
};
using Hardsigmoid = ModuleHolder<HardsigmoidImpl>;

using ReLU6Options = InPlaceOptions;
// min(max(x, 0), 6).
class KEYWAY_API ReLU6Impl : public WithOptions<ReLU6Options> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input);
};
using ReLU6 = ModuleHolder<ReLU6Impl>;

class LeakyReLUOptions {
 public:
  LeakyReLUOptions(double negative_slope = 0.01) : negative_slope_(negative_slope) {}  // NOLINT
  KEYWAY_OPTION(double, negative_slope);
  KEYWAY_OPTION(bool, inplace) = false;
};
// x where it is positive, else negative_slope * x.
class KEYWAY_API LeakyReLUImpl : public WithOptions<LeakyReLUOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input);
};
using LeakyReLU = ModuleHolder<LeakyReLUImpl>;

class CELUOptions {
 public:
  CELUOptions(double alpha = 1) : alpha_(alpha) {}  // NOLINT
  KEYWAY_OPTION(double, alpha);
  KEYWAY_OPTION(bool, inplace) = false;
};
// x where it is positive, else alpha * (exp(x / alpha) - 1).
class KEYWAY_API CELUImpl : public WithOptions<CELUOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input);
};
using CELU = ModuleHolder<CELUImpl>;

class ELUOptions {
 public:
  ELUOptions(double alpha = 1) : alpha_(alpha) {}  // NOLINT
  KEYWAY_OPTION(double, alpha);
  KEYWAY_OPTION(bool, inplace) = false;
};
// x where it is positive, else alpha * (exp(x) - 1).
class KEYWAY_API ELUImpl : public WithOptions<ELUOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input);
};
using ELU = ModuleHolder<ELUImpl>;

class HardtanhOptions {
  KEYWAY_OPTION(double, min_val) = -1;
  KEYWAY_OPTION(double, max_val) = 1;
  KEYWAY_OPTION(bool, inplace) = false;
};
// x, at least min_val and at most max_val. Throws keyway::Error unless min_val is below max_val.
class KEYWAY_API HardtanhImpl : public WithOptions<HardtanhOptions> {
 public:
  explicit HardtanhImpl(HardtanhOptions options = {});
  Tensor forward(const Tensor& input);
};
using Hardtanh = ModuleHolder<HardtanhImpl>;

class ThresholdOptions {
 public:
  ThresholdOptions(double threshold, double value) : threshold_(threshold), value_(value) {}
  KEYWAY_OPTION(double, threshold);
  KEYWAY_OPTION(double, value);
  KEYWAY_OPTION(bool, inplace) = false;
};
// x where it exceeds threshold, else value.
class KEYWAY_API ThresholdImpl : public WithOptions<ThresholdOptions> {
 public:
  ThresholdImpl(double threshold, double value) : ThresholdImpl(ThresholdOptions(threshold, value)) {}
  explicit ThresholdImpl(ThresholdOptions options_) : WithOptions(options_) {}
  Tensor forward(const Tensor& input);
};
using Threshold = ModuleHolder<ThresholdImpl>;

class RReLUOptions {
  KEYWAY_OPTION(double, lower) = 1.0 / 8;
  KEYWAY_OPTION(double, upper) = 1.0 / 3;
  KEYWAY_OPTION(bool, inplace) = false;
};
// x where it is positive, else a slope times x, which is drawn between lower and upper while training (Xu et al.,
// 2015).
class KEYWAY_API RReLUImpl : public WithOptions<RReLUOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input);
};
using RReLU = ModuleHolder<RReLUImpl>;

class GLUOptions {
 public:
  GLUOptions(std::int64_t dim = -1) : dim_(dim) {}  // NOLINT
  KEYWAY_OPTION(std::int64_t, dim);
};
// The first half along `dim`, times the sigmoid of the second.
class KEYWAY_API GLUImpl : public WithOptions<GLUOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input);
};
using GLU = ModuleHolder<GLUImpl>;

class HardshrinkOptions {
 public:
  HardshrinkOptions(double lambda = 0.5) : lambda_(lambda) {}  // NOLINT
  KEYWAY_OPTION(double, lambda);
};
// 0 where the magnitude is at most lambda.
class KEYWAY_API HardshrinkImpl : public WithOptions<HardshrinkOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input);
};
using Hardshrink = ModuleHolder<HardshrinkImpl>;

class SoftshrinkOptions {
 public:
  SoftshrinkOptions(double lambda = 0.5) : lambda_(lambda) {}  // NOLINT
  KEYWAY_OPTION(double, lambda);
};
// x moved by lambda towards 0, at most to it.
class KEYWAY_API SoftshrinkImpl : public WithOptions<SoftshrinkOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input);
};
using Softshrink = ModuleHolder<SoftshrinkImpl>;

class SoftplusOptions {
  KEYWAY_OPTION(double, beta) = 1;
  KEYWAY_OPTION(double, threshold) = 20;
};
// log(1 + exp(beta x)) / beta; x where beta x is above threshold.
class KEYWAY_API SoftplusImpl : public WithOptions<SoftplusOptions> {
 public:
  using WithOptions::WithOptions;
  Tensor forward(const Tensor& input);
};
using Softplus = ModuleHolder<SoftplusImpl>;

// x times the normal distribution's probability of a value below x; `approximate` is "none", or "tanh": nearly so.
class KEYWAY_API GELUImpl : public Module {
 public:
  explicit GELUImpl(std::string approximate = "none") : approximate_(std::move(approximate)) {}
  Tensor forward(const Tensor& input);

 private:
  std::string approximate_;
};
using GELU = ModuleHolder<GELUImpl>;

// exp(x) over its sum along `dim`.
class KEYWAY_API SoftmaxImpl : public Module {
 public:
  explicit SoftmaxImpl(std::int64_t dim) : dim_(dim) {}
  Tensor forward(const Tensor& input);

 private:
  std::int64_t dim_;
};
using Softmax = ModuleHolder<SoftmaxImpl>;

// The logarithm of softmax.
class KEYWAY_API LogSoftmaxImpl : public Module {
 public:
  explicit LogSoftmaxImpl(std::int64_t dim) : dim_(dim) {}
  Tensor forward(const Tensor& input);

 private:
  std::int64_t dim_;
};
using LogSoftmax = ModuleHolder<LogSoftmaxImpl>;

// Softmax of -x.
class KEYWAY_API SoftminImpl : public Module {
 public:
  explicit SoftminImpl(std::int64_t dim) : dim_(dim) {}
  Tensor forward(const Tensor& input);

 private:
  std::int64_t dim_;
};
using Softmin = ModuleHolder<SoftminImpl>;

// Softmax over the channels of images, [batch, channels, height, width] or without batch.
class KEYWAY_API Softmax2dImpl : public Module {
 public:
  Tensor forward(const Tensor& input);
};
using Softmax2d = ModuleHolder<Softmax2dImpl>;

class PReLUOptions {
  KEYWAY_OPTION(std::int64_t, num_parameters) = 1;
  KEYWAY_OPTION(double, init) = 0.25;
};
// x where it is positive, else weight * x: of one weight, or of one for each channel (He et al., 2015).
class KEYWAY_API PReLUImpl : public Module {
 public:
  explicit PReLUImpl(PReLUOptions options = {});
  Tensor forward(const Tensor& input);
  PReLUOptions options;
  Tensor weight;
};
using PReLU = ModuleHolder<PReLUImpl>;

}  // namespace keyway::inline v1::nn
