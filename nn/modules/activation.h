// Activations as modules, for Sequential; elsewhere the operators do. Those with `inplace` may overwrite their input.
#pragma once

#include <keyway/nn/module.h>
#include <keyway/nn/modules/with_options.h>
#include <keyway/nn/option.h>

#include <string>

namespace keyway::inline v1::nn {

// 1 / (1 + exp(-x)).
KEYWAY_MODULE(Sigmoid, Module, Tensor forward(const Tensor& input));

KEYWAY_MODULE(Tanh, Module, Tensor forward(const Tensor& input));

// log(1 / (1 + exp(-x))).
KEYWAY_MODULE(LogSigmoid, Module, Tensor forward(const Tensor& input));

// x / (1 + |x|).
KEYWAY_MODULE(Softsign, Module, Tensor forward(const Tensor& input));

// x - tanh(x).
KEYWAY_MODULE(Tanhshrink, Module, Tensor forward(const Tensor& input));

using ReLUOptions = InPlaceOptions;
// max(0, x).
KEYWAY_MODULE(ReLU, WithOptions<ReLUOptions>, Tensor forward(const Tensor& input));

using SiLUOptions = InPlaceOptions;
// x / (1 + exp(-x)).
KEYWAY_MODULE(SiLU, WithOptions<SiLUOptions>, Tensor forward(const Tensor& input));

using SELUOptions = InPlaceOptions;
// ELU with a scale and a slope that keep mean 0 and variance 1 (Klambauer et al., 2017).
KEYWAY_MODULE(SELU, WithOptions<SELUOptions>, Tensor forward(const Tensor& input));

using MishOptions = InPlaceOptions;
// x tanh(log(1 + exp(x))).
KEYWAY_MODULE(Mish, WithOptions<MishOptions>, Tensor forward(const Tensor& input));

using HardswishOptions = InPlaceOptions;
// x min(max(x + 3, 0), 6) / 6.
KEYWAY_MODULE(Hardswish, WithOptions<HardswishOptions>, Tensor forward(const Tensor& input));

using HardsigmoidOptions = InPlaceOptions;
// min(max(x + 3, 0), 6) / 6.
KEYWAY_MODULE(Hardsigmoid, WithOptions<HardsigmoidOptions>, Tensor forward(const Tensor& input));

using ReLU6Options = InPlaceOptions;
// min(max(x, 0), 6).
KEYWAY_MODULE(ReLU6, WithOptions<ReLU6Options>, Tensor forward(const Tensor& input));

class LeakyReLUOptions {
 public:
  LeakyReLUOptions(double negative_slope = 0.01) : negative_slope_(negative_slope) {}  // NOLINT
  KEYWAY_OPTION(double, negative_slope);
  KEYWAY_OPTION(bool, inplace) = false;
};
// x where it is positive, else negative_slope * x.
KEYWAY_MODULE(LeakyReLU, WithOptions<LeakyReLUOptions>, Tensor forward(const Tensor& input));

class CELUOptions {
 public:
  CELUOptions(double alpha = 1) : alpha_(alpha) {}  // NOLINT
  KEYWAY_OPTION(double, alpha);
  KEYWAY_OPTION(bool, inplace) = false;
};
// x where it is positive, else alpha * (exp(x / alpha) - 1).
KEYWAY_MODULE(CELU, WithOptions<CELUOptions>, Tensor forward(const Tensor& input));

using ELUOptions = CELUOptions;
// x where it is positive, else alpha * (exp(x) - 1).
KEYWAY_MODULE(ELU, WithOptions<ELUOptions>, Tensor forward(const Tensor& input));

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
KEYWAY_MODULE(Threshold, WithOptions<ThresholdOptions>, Tensor forward(const Tensor& input));

class RReLUOptions {
  KEYWAY_OPTION(double, lower) = 1.0 / 8;
  KEYWAY_OPTION(double, upper) = 1.0 / 3;
  KEYWAY_OPTION(bool, inplace) = false;
};
// x where it is positive, else a slope times x, which is drawn between lower and upper while training (Xu et al.,
// 2015).
KEYWAY_MODULE(RReLU, WithOptions<RReLUOptions>, Tensor forward(const Tensor& input));

class GLUOptions {
 public:
  GLUOptions(std::int64_t dim = -1) : dim_(dim) {}  // NOLINT
  KEYWAY_OPTION(std::int64_t, dim);
};
// The first half along `dim`, times the sigmoid of the second.
KEYWAY_MODULE(GLU, WithOptions<GLUOptions>, Tensor forward(const Tensor& input));

class HardshrinkOptions {
 public:
  HardshrinkOptions(double lambda = 0.5) : lambda_(lambda) {}  // NOLINT
  KEYWAY_OPTION(double, lambda);
};
// 0 where the magnitude is at most lambda.
KEYWAY_MODULE(Hardshrink, WithOptions<HardshrinkOptions>, Tensor forward(const Tensor& input));

using SoftshrinkOptions = HardshrinkOptions;
// x moved by lambda towards 0, at most to it.
KEYWAY_MODULE(Softshrink, WithOptions<SoftshrinkOptions>, Tensor forward(const Tensor& input));

class SoftplusOptions {
  KEYWAY_OPTION(double, beta) = 1;
  KEYWAY_OPTION(double, threshold) = 20;
};
// log(1 + exp(beta x)) / beta; x where beta x is above threshold.
KEYWAY_MODULE(Softplus, WithOptions<SoftplusOptions>, Tensor forward(const Tensor& input));

class GELUOptions {
 public:
  GELUOptions(std::string approximate = "none") : approximate_(std::move(approximate)) {}  // NOLINT
  KEYWAY_OPTION(std::string, approximate);                                                 // or "tanh": nearly so
};
// x times the normal distribution's probability of a value below x.
KEYWAY_MODULE(GELU, WithOptions<GELUOptions>, Tensor forward(const Tensor& input));

class SoftmaxOptions {
 public:
  SoftmaxOptions(std::int64_t dim) : dim_(dim) {}  // NOLINT
  KEYWAY_OPTION(std::int64_t, dim);
};
// exp(x) over its sum along `dim`.
KEYWAY_MODULE(Softmax, WithOptions<SoftmaxOptions>, Tensor forward(const Tensor& input));

using LogSoftmaxOptions = SoftmaxOptions;
// The logarithm of softmax.
KEYWAY_MODULE(LogSoftmax, WithOptions<LogSoftmaxOptions>, Tensor forward(const Tensor& input));

using SoftminOptions = SoftmaxOptions;
// Softmax of -x.
KEYWAY_MODULE(Softmin, WithOptions<SoftminOptions>, Tensor forward(const Tensor& input));

// Softmax over the channels of images, [batch, channels, height, width] or without batch.
KEYWAY_MODULE(Softmax2d, Module, Tensor forward(const Tensor& input));

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
