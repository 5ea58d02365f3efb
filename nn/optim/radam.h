// RAdam: Adam, without its scaling as long as that is not known well (Liu et al., 2020).
#pragma once

#include <keyway/nn/optim/adam.h>
#include <keyway/nn/optim/optimizer.h>
#include <keyway/nn/option.h>

namespace keyway::inline v1::optim {

class KEYWAY_API RAdamOptions : public OptimizerCloneableOptions<RAdamOptions> {
 public:
  RAdamOptions(double lr = 1e-3) : lr_(lr) {}  // NOLINT
  KEYWAY_VISIT_OPTIONS(lr_, betas_, eps_, weight_decay_, decoupled_weight_decay_, maximize_)
  void check() const override { check_adam("RAdam", lr_, betas_, eps_, weight_decay_); }
  KEYWAY_OPTION(double, lr);
  KEYWAY_OPTION(Betas, betas) = {0.9, 0.999};
  KEYWAY_OPTION(double, eps) = 1e-8;
  KEYWAY_OPTION(double, weight_decay) = 0;
  KEYWAY_OPTION(bool, decoupled_weight_decay) = false;
  KEYWAY_OPTION(bool, maximize) = false;
};

class KEYWAY_API RAdamParamState : public OptimizerParamState {
 public:
  std::vector<NamedTensor> tensors() override { return {{"exp_avg", &exp_avg}, {"exp_avg_sq", &exp_avg_sq}}; }
  Tensor exp_avg, exp_avg_sq;
};

// With g = gradient + weight_decay * parameter (if `maximize`, -gradient + weight_decay * parameter), at step t,
// with r = 2 / (1 - beta2) - 1 and q = r - 2 * t * beta2^t / (1 - beta2^t):
//   m = beta1 * m + (1 - beta1) * g
//   v = beta2 * v + (1 - beta2) * g^2
//   d = sqrt((1 - beta2^t) * (q - 4) * (q - 2) * r / ((r - 4) * (r - 2) * q)) / (sqrt(v) + eps), and 1 unless q > 5
//   parameter -= lr * m / (1 - beta1^t) * d
// With `decoupled_weight_decay`, g = gradient, after parameter *= 1 - lr * weight_decay.
class KEYWAY_API RAdam : public OptimizerOf<RAdamOptions, RAdamParamState> {
 public:
  using OptimizerOf::OptimizerOf;

 protected:
  void update(const Tensor& parameter, const Tensor& grad, const RAdamOptions& options,
              RAdamParamState& state) override;
};

}  // namespace keyway::inline v1::optim
