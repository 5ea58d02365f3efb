// Activations as modules, for Sequential; elsewhere the operators do.
#pragma once

#include <keyway/nn/module.h>
#include <keyway/nn/option.h>

#include <string>

namespace keyway::inline v1::nn {

class KEYWAY_API ReLUImpl : public Module {
 public:
  Tensor forward(const Tensor& input);
};
using ReLU = ModuleHolder<ReLUImpl>;

class KEYWAY_API SiLUImpl : public Module {
 public:
  Tensor forward(const Tensor& input);
};
using SiLU = ModuleHolder<SiLUImpl>;

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

// `approximate` is "none" or "tanh".
class KEYWAY_API GELUImpl : public Module {
 public:
  explicit GELUImpl(std::string approximate = "none") : approximate_(std::move(approximate)) {}
  Tensor forward(const Tensor& input);

 private:
  std::string approximate_;
};
using GELU = ModuleHolder<GELUImpl>;

// ELU with a scale and a slope that keep mean 0 and variance 1 (Klambauer et al., 2017).
class KEYWAY_API SELUImpl : public Module {
 public:
  Tensor forward(const Tensor& input);
};
using SELU = ModuleHolder<SELUImpl>;

// x tanh(log(1 + exp(x))).
class KEYWAY_API MishImpl : public Module {
 public:
  Tensor forward(const Tensor& input);
};
using Mish = ModuleHolder<MishImpl>;

// x min(max(x + 3, 0), 6) / 6.
class KEYWAY_API HardswishImpl : public Module {
 public:
  Tensor forward(const Tensor& input);
};
using Hardswish = ModuleHolder<HardswishImpl>;

// min(max(x + 3, 0), 6) / 6.
class KEYWAY_API HardsigmoidImpl : public Module {
 public:
  Tensor forward(const Tensor& input);
};
using Hardsigmoid = ModuleHolder<HardsigmoidImpl>;

// log(1 / (1 + exp(-x))).
class KEYWAY_API LogSigmoidImpl : public Module {
 public:
  Tensor forward(const Tensor& input);
};
using LogSigmoid = ModuleHolder<LogSigmoidImpl>;

// min(max(x, 0), 6).
class KEYWAY_API ReLU6Impl : public Module {
 public:
  Tensor forward(const Tensor& input);
};
using ReLU6 = ModuleHolder<ReLU6Impl>;

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

class LeakyReLUOptions {
 public:
  LeakyReLUOptions(double negative_slope = 0.01) : negative_slope_(negative_slope) {}  // NOLINT
  KEYWAY_OPTION(double, negative_slope);
};
// x where it is positive, else negative_slope * x.
class KEYWAY_API LeakyReLUImpl : public Module {
 public:
  explicit LeakyReLUImpl(LeakyReLUOptions options_ = {}) : options(options_) {}
  Tensor forward(const Tensor& input);
  LeakyReLUOptions options;
};
using LeakyReLU = ModuleHolder<LeakyReLUImpl>;

class CELUOptions {
 public:
  CELUOptions(double alpha = 1) : alpha_(alpha) {}  // NOLINT
  KEYWAY_OPTION(double, alpha);
};
// x where it is positive, else alpha * (exp(x / alpha) - 1).
class KEYWAY_API CELUImpl : public Module {
 public:
  explicit CELUImpl(CELUOptions options_ = {}) : options(options_) {}
  Tensor forward(const Tensor& input);
  CELUOptions options;
};
using CELU = ModuleHolder<CELUImpl>;

class ELUOptions {
 public:
  ELUOptions(double alpha = 1) : alpha_(alpha) {}  // NOLINT
  KEYWAY_OPTION(double, alpha);
};
// x where it is positive, else alpha * (exp(x) - 1).
class KEYWAY_API ELUImpl : public Module {
 public:
  explicit ELUImpl(ELUOptions options_ = {}) : options(options_) {}
  Tensor forward(const Tensor& input);
  ELUOptions options;
};
using ELU = ModuleHolder<ELUImpl>;

class GLUOptions {
 public:
  GLUOptions(std::int64_t dim = -1) : dim_(dim) {}  // NOLINT
  KEYWAY_OPTION(std::int64_t, dim);
};
// The first half along `dim`, times the sigmoid of the second.
class KEYWAY_API GLUImpl : public Module {
 public:
  explicit GLUImpl(GLUOptions options_ = {}) : options(options_) {}
  Tensor forward(const Tensor& input);
  GLUOptions options;
};
using GLU = ModuleHolder<GLUImpl>;

class HardshrinkOptions {
 public:
  HardshrinkOptions(double lambda = 0.5) : lambda_(lambda) {}  // NOLINT
  KEYWAY_OPTION(double, lambda);
};
// 0 where the magnitude is at most lambda.
class KEYWAY_API HardshrinkImpl : public Module {
 public:
  explicit HardshrinkImpl(HardshrinkOptions options_ = {}) : options(options_) {}
  Tensor forward(const Tensor& input);
  HardshrinkOptions options;
};
using Hardshrink = ModuleHolder<HardshrinkImpl>;

class SoftshrinkOptions {
 public:
  SoftshrinkOptions(double lambda = 0.5) : lambda_(lambda) {}  // NOLINT
  KEYWAY_OPTION(double, lambda);
};
// x moved by lambda towards 0, at most to it.
class KEYWAY_API SoftshrinkImpl : public Module {
 public:
  explicit SoftshrinkImpl(SoftshrinkOptions options_ = {}) : options(options_) {}
  Tensor forward(const Tensor& input);
  SoftshrinkOptions options;
};
using Softshrink = ModuleHolder<SoftshrinkImpl>;

class HardtanhOptions {
  KEYWAY_OPTION(double, min_val) = -1;
  KEYWAY_OPTION(double, max_val) = 1;
};
// x, at least min_val and at most max_val.
class KEYWAY_API HardtanhImpl : public Module {
 public:
  explicit HardtanhImpl(HardtanhOptions options_ = {}) : options(options_) {}
  Tensor forward(const Tensor& input);
  HardtanhOptions options;
};
using Hardtanh = ModuleHolder<HardtanhImpl>;

class SoftplusOptions {
  KEYWAY_OPTION(double, beta) = 1;
  KEYWAY_OPTION(double, threshold) = 20;
};
// log(1 + exp(beta x)) / beta; x where beta x is above threshold.
class KEYWAY_API SoftplusImpl : public Module {
 public:
  explicit SoftplusImpl(SoftplusOptions options_ = {}) : options(options_) {}
  Tensor forward(const Tensor& input);
  SoftplusOptions options;
};
using Softplus = ModuleHolder<SoftplusImpl>;

// exp(x) over its sum along `dim`, and the logarithm of that.
class KEYWAY_API SoftmaxImpl : public Module {
 public:
  explicit SoftmaxImpl(std::int64_t dim) : dim_(dim) {}
  Tensor forward(const Tensor& input);

 private:
  std::int64_t dim_;
};
using Softmax = ModuleHolder<SoftmaxImpl>;

class KEYWAY_API LogSoftmaxImpl : public Module {
 public:
  explicit LogSoftmaxImpl(std::int64_t dim) : dim_(dim) {}
  Tensor forward(const Tensor& input);

 private:
  std::int64_t dim_;
};
using LogSoftmax = ModuleHolder<LogSoftmaxImpl>;

class PReLUOptions {
  KEYWAY_OPTION(std::int64_t, num_parameters) = 1;
  KEYWAY_OPTION(double, init) = 0.25;
};
// x where it is positive, else weight * x: of one weight, or of one for each channel.
class KEYWAY_API PReLUImpl : public Module {
 public:
  explicit PReLUImpl(PReLUOptions options = {});
  Tensor forward(const Tensor& input);
  PReLUOptions options;
  Tensor weight;
};
using PReLU = ModuleHolder<PReLUImpl>;

}  // namespace keyway::inline v1::nn
