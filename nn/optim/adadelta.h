// Adadelta: steps as long as those before, relative to the gradient (Zeiler, 2012).
#pragma once

#include <keyway/nn/optim/optimizer.h>
#include <keyway/nn/option.h>

namespace keyway::inline v1::optim {

class KEYWAY_API AdadeltaOptions : public OptimizerCloneableOptions<AdadeltaOptions> {
 public:
  AdadeltaOptions(double lr = 1) : lr_(lr) {}  // NOLINT
  KEYWAY_VISIT_OPTIONS(lr_, rho_, eps_, weight_decay_, maximize_)
  void check() const override;
  KEYWAY_OPTION(double, lr);
  KEYWAY_OPTION(double, rho) = 0.9;
  KEYWAY_OPTION(double, eps) = 1e-6;
  KEYWAY_OPTION(double, weight_decay) = 0;
  KEYWAY_OPTION(bool, maximize) = false;
};

class KEYWAY_API AdadeltaParamState : public OptimizerParamState {
 public:
  std::vector<NamedTensor> tensors() override { return {{"square_avg", &square_avg}, {"acc_delta", &acc_delta}}; }
  Tensor square_avg, acc_delta;
};

// With g = gradient + weight_decay * parameter (if `maximize`, -gradient + weight_decay * parameter):
//   v = rho * v + (1 - rho) * g^2
//   d = sqrt(u + eps) / sqrt(v + eps) * g
//   u = rho * u + (1 - rho) * d^2
//   parameter -= lr * d
class KEYWAY_API Adadelta : public OptimizerOf<AdadeltaOptions, AdadeltaParamState> {
 public:
  using OptimizerOf::OptimizerOf;

 protected:
  void update(const Tensor& parameter, const Tensor& grad, const AdadeltaOptions& options,
              AdadeltaParamState& state) override;
  bool may_be_captured() const override { return true; }
};

}  // namespace keyway::inline v1::optim
