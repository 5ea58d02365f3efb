// Adamax: Adam, scaled by the greatest gradient (Kingma and Ba, 2015).
#pragma once

#include <keyway/nn/optim/adam.h>
#include <keyway/nn/optim/optimizer.h>
#include <keyway/nn/option.h>

namespace keyway::inline v1::optim {

class KEYWAY_API AdamaxOptions : public OptimizerCloneableOptions<AdamaxOptions> {
 public:
  AdamaxOptions(double lr = 2e-3) : lr_(lr) {}  // NOLINT
  KEYWAY_VISIT_OPTIONS(lr_, betas_, eps_, weight_decay_, maximize_)
  void check() const override { check_adam("Adamax", lr_, betas_, eps_, weight_decay_); }
  KEYWAY_OPTION(double, lr);
  KEYWAY_OPTION(Betas, betas) = {0.9, 0.999};
  KEYWAY_OPTION(double, eps) = 1e-8;
  KEYWAY_OPTION(double, weight_decay) = 0;
  KEYWAY_OPTION(bool, maximize) = false;
};

class KEYWAY_API AdamaxParamState : public OptimizerParamState {
 public:
  std::vector<NamedTensor> tensors() override { return {{"exp_avg", &exp_avg}, {"exp_inf", &exp_inf}}; }
  Tensor exp_avg, exp_inf;
};

// With g = gradient + weight_decay * parameter (if `maximize`, -gradient + weight_decay * parameter), at step t:
//   m = beta1 * m + (1 - beta1) * g
//   u = max(beta2 * u, |g| + eps)
//   parameter -= lr / (1 - beta1^t) * m / u
class KEYWAY_API Adamax : public OptimizerOf<AdamaxOptions, AdamaxParamState> {
 public:
  using OptimizerOf::OptimizerOf;

 protected:
  void update(const Tensor& parameter, const Tensor& grad, const AdamaxOptions& options,
              AdamaxParamState& state) override;
};

}  // namespace keyway::inline v1::optim
