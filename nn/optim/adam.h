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
  void visit(OptionVisitor& visitor) override {
    visitor.number("lr", lr_);
    visitor.number("beta1", std::get<0>(betas_));
    visitor.number("beta2", std::get<1>(betas_));
    visitor.number("eps", eps_);
    visitor.number("weight_decay", weight_decay_);
    visitor.flag("amsgrad", amsgrad_);
    visitor.flag("maximize", maximize_);
  }
  void check() const override { check_adam(Self::kName, lr_, betas_, eps_, weight_decay_); }

  double lr() const { return lr_; }
  Betas betas() const { return betas_; }
  double eps() const { return eps_; }
  double weight_decay() const { return weight_decay_; }
  bool amsgrad() const { return amsgrad_; }
  bool maximize() const { return maximize_; }
  // Whether all parameters are changed by one call of _fused_adam_ or _fused_adamw_. If it is not said: floating point
  // ones on devices for which there is a kernel of it. No part of the optimizer's state.
  std::optional<bool> fused() const { return fused_; }
  Self& lr(double value) { return lr_ = value, self(); }
  Self& betas(Betas value) { return betas_ = value, self(); }
  Self& eps(double value) { return eps_ = value, self(); }
  Self& weight_decay(double value) { return weight_decay_ = value, self(); }
  Self& amsgrad(bool value) { return amsgrad_ = value, self(); }
  Self& maximize(bool value) { return maximize_ = value, self(); }
  Self& fused(std::optional<bool> value) { return fused_ = value, self(); }

 private:
  Self& self() { return static_cast<Self&>(*this); }

  double lr_;
  Betas betas_{0.9, 0.999};
  double eps_ = 1e-8;
  double weight_decay_;
  bool amsgrad_ = false;
  bool maximize_ = false;
  std::optional<bool> fused_;
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
  void visit(const std::function<void(std::string_view, Tensor&)>& f) override;
  bool may_lack(std::string_view name, const Tensor& parameter) const override;
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
