// NAdam: Adam that looks ahead along its momentum (Dozat, 2016).
#pragma once

#include <keyway/nn/optim/adam.h>
#include <keyway/nn/optim/optimizer.h>
#include <keyway/nn/option.h>

namespace keyway::inline v1::optim {

class KEYWAY_API NAdamOptions : public OptimizerCloneableOptions<NAdamOptions> {
 public:
  NAdamOptions(double lr = 2e-3) : lr_(lr) {}  // NOLINT
  KEYWAY_VISIT_OPTIONS(lr_, betas_, eps_, weight_decay_, momentum_decay_, decoupled_weight_decay_, maximize_)
  void check() const override;
  KEYWAY_OPTION(double, lr);
  KEYWAY_OPTION(Betas, betas) = {0.9, 0.999};
  KEYWAY_OPTION(double, eps) = 1e-8;
  KEYWAY_OPTION(double, weight_decay) = 0;
  KEYWAY_OPTION(double, momentum_decay) = 4e-3;
  KEYWAY_OPTION(bool, decoupled_weight_decay) = false;
  KEYWAY_OPTION(bool, maximize) = false;
};

class KEYWAY_API NAdamParamState : public OptimizerParamState {
 public:
  std::vector<NamedTensor> tensors() override { return {{"exp_avg", &exp_avg}, {"exp_avg_sq", &exp_avg_sq}}; }
  void visit_numbers(const std::function<void(std::string_view, double&)>& f) override { f("mu_product", mu_product); }
  Tensor exp_avg, exp_avg_sq;
  double mu_product = 1;  // p(t): float32, or float64 where that is the default dtype
};

// With g = gradient + weight_decay * parameter (if `maximize`, -gradient + weight_decay * parameter), at step t,
// with mu(t) = beta1 * (1 - 0.96^(t * momentum_decay) / 2) and p(t) = mu(1) * ... * mu(t):
//   m = beta1 * m + (1 - beta1) * g
//   v = beta2 * v + (1 - beta2) * g^2
//   d = sqrt(v / (1 - beta2^t)) + eps
//   parameter -= lr * ((1 - mu(t)) / (1 - p(t)) * g + mu(t + 1) / (1 - p(t + 1)) * m) / d
// With `decoupled_weight_decay`, g = gradient, after parameter *= 1 - lr * weight_decay.
class KEYWAY_API NAdam : public OptimizerOf<NAdamOptions, NAdamParamState> {
 public:
  using OptimizerOf::OptimizerOf;

 protected:
  void update(const Tensor& parameter, const Tensor& grad, const NAdamOptions& options,
              NAdamParamState& state) override;
};

}  // namespace keyway::inline v1::optim
