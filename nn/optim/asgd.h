// ASGD: stochastic gradient descent, and the average of where it went (Polyak and Juditsky, 1992).
#pragma once

#include <keyway/nn/optim/optimizer.h>
#include <keyway/nn/option.h>

namespace keyway::inline v1::optim {

class KEYWAY_API ASGDOptions : public OptimizerCloneableOptions<ASGDOptions> {
 public:
  ASGDOptions(double lr = 1e-2) : lr_(lr) {}  // NOLINT
  KEYWAY_VISIT_OPTIONS(lr_, lambd_, alpha_, t0_, weight_decay_, maximize_)
  void check() const override;
  KEYWAY_OPTION(double, lr);
  KEYWAY_OPTION(double, lambd) = 1e-4;
  KEYWAY_OPTION(double, alpha) = 0.75;
  KEYWAY_OPTION(double, t0) = 1e6;
  KEYWAY_OPTION(double, weight_decay) = 0;
  KEYWAY_OPTION(bool, maximize) = false;
};

class KEYWAY_API ASGDParamState : public OptimizerParamState {
 public:
  std::vector<NamedTensor> tensors() override { return {{"ax", &ax}}; }
  void visit_numbers(const std::function<void(std::string_view, double&)>& f) override;
  Tensor ax;
  double eta = 0;  // of the next step; float32, or float64 where that is the default dtype, as mu is
  double mu = 1;
};

// With g = gradient + weight_decay * parameter (if `maximize`, -gradient + weight_decay * parameter), at step t:
//   parameter = parameter * (1 - lambd * eta) - eta * g           (eta at first: lr)
//   eta = lr / (1 + lambd * lr * t)^alpha
// The state's `ax` is the average of the parameter since step `t0`, and before that the parameter.
class KEYWAY_API ASGD : public OptimizerOf<ASGDOptions, ASGDParamState> {
 public:
  using OptimizerOf::OptimizerOf;

 protected:
  void update(const Tensor& parameter, const Tensor& grad, const ASGDOptions& options, ASGDParamState& state) override;
};

}  // namespace keyway::inline v1::optim
