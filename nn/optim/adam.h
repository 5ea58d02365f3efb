// Adam and AdamW: steps scaled by running moments of each gradient.
#pragma once

#include <keyway/nn/optim/optimizer.h>
#include <keyway/nn/option.h>

#include <optional>
#include <tuple>

namespace keyway::inline v1::optim {

using Betas = std::tuple<double, double>;

// Throws keyway::Error for options of Adam and its kin that make no sense.
KEYWAY_API void check_adam(const char* optimizer, double lr, Betas betas, double eps, double weight_decay);

// Both optimizers have the same options; only what weight_decay does differs, and is by default.
template <typename Self>
class AdamLikeOptions : public OptimizerCloneableOptions<Self> {
 public:
  AdamLikeOptions(double lr, double weight_decay) : lr_(lr), weight_decay_(weight_decay) {}
  KEYWAY_VISIT_OPTIONS(lr_, betas_, eps_, weight_decay_, amsgrad_, maximize_)
  void check() const override { check_adam(Self::kName, lr_, betas_, eps_, weight_decay_); }
  KEYWAY_OPTION_OF(Self, double, lr);
  KEYWAY_OPTION_OF(Self, Betas, betas) = {0.9, 0.999};
  KEYWAY_OPTION_OF(Self, double, eps) = 1e-8;
  KEYWAY_OPTION_OF(Self, double, weight_decay);
  KEYWAY_OPTION_OF(Self, bool, amsgrad) = false;
  KEYWAY_OPTION_OF(Self, bool, maximize) = false;
  // Whether all parameters are changed by one call of _fused_adam_ or _fused_adamw_. If it is not said: floating point
  // ones on devices for which there is a kernel of it. No part of the optimizer's state.
  KEYWAY_OPTION_OF(Self, std::optional<bool>, fused);
};

class AdamOptions : public AdamLikeOptions<AdamOptions> {
 public:
  static constexpr const char* kName = "Adam";
  AdamOptions(double lr = 1e-3) : AdamLikeOptions(lr, 0) {}  // NOLINT
};

class AdamWOptions : public AdamLikeOptions<AdamWOptions> {
 public:
  static constexpr const char* kName = "AdamW";
  AdamWOptions(double lr = 1e-3) : AdamLikeOptions(lr, 1e-2) {}  // NOLINT
};

class KEYWAY_API AdamParamState : public OptimizerParamState {
 public:
  std::vector<NamedTensor> tensors() override {
    return {{"exp_avg", &exp_avg}, {"exp_avg_sq", &exp_avg_sq}, {"max_exp_avg_sq", &max_exp_avg_sq}};
  }
  bool may_lack(std::string_view name, const Tensor& /*parameter*/) const override { return name == "max_exp_avg_sq"; }
  Tensor exp_avg;
  Tensor exp_avg_sq;
  Tensor max_exp_avg_sq;  // with amsgrad only
};
using AdamWParamState = AdamParamState;

// With g = gradient + weight_decay * parameter (if `maximize`, -gradient + weight_decay * parameter), at step t:
//   m = beta1 * m + (1 - beta1) * g
//   v = beta2 * v + (1 - beta2) * g^2                     (amsgrad: the largest v so far is used)
//   parameter -= lr * (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)
class KEYWAY_API Adam : public OptimizerOf<AdamOptions, AdamParamState> {
 public:
  using OptimizerOf::OptimizerOf;

 protected:
  void update(const Tensor& parameter, const Tensor& grad, const AdamOptions& options, AdamParamState& state) override;
  void update_fused(std::vector<ParamChange>& changes, const AdamOptions& options) override;
};

// The same with g = gradient, after parameter *= 1 - lr * weight_decay.
class KEYWAY_API AdamW : public OptimizerOf<AdamWOptions, AdamWParamState> {
 public:
  using OptimizerOf::OptimizerOf;

 protected:
  void update(const Tensor& parameter, const Tensor& grad, const AdamWOptions& options,
              AdamWParamState& state) override;
  void update_fused(std::vector<ParamChange>& changes, const AdamWOptions& options) override;
};

}  // namespace keyway::inline v1::optim
