// RMSprop: steps scaled by a running mean of the gradient's squares (Hinton, 2012).
#pragma once

#include <keyway/nn/optim/optimizer.h>
#include <keyway/nn/option.h>

namespace keyway::inline v1::optim {

class KEYWAY_API RMSpropOptions : public OptimizerCloneableOptions<RMSpropOptions> {
 public:
  RMSpropOptions(double lr = 1e-2) : lr_(lr) {}  // NOLINT
  KEYWAY_VISIT_OPTIONS(lr_, alpha_, eps_, weight_decay_, momentum_, centered_, maximize_)
  void check() const override;
  KEYWAY_OPTION(double, lr);
  KEYWAY_OPTION(double, alpha) = 0.99;
  KEYWAY_OPTION(double, eps) = 1e-8;
  KEYWAY_OPTION(double, weight_decay) = 0;
  KEYWAY_OPTION(double, momentum) = 0;
  KEYWAY_OPTION(bool, centered) = false;
  KEYWAY_OPTION(bool, maximize) = false;
};

class KEYWAY_API RMSpropParamState : public OptimizerParamState {
 public:
  std::vector<NamedTensor> tensors() override {
    return {{"square_avg", &square_avg}, {"momentum_buffer", &momentum_buffer}, {"grad_avg", &grad_avg}};
  }
  bool may_lack(std::string_view name, const Tensor& /*parameter*/) const override { return name != "square_avg"; }
  Tensor square_avg, momentum_buffer, grad_avg;
};

// With g = gradient + weight_decay * parameter (if `maximize`, -gradient + weight_decay * parameter):
//   v = alpha * v + (1 - alpha) * g^2
//   d = g / (sqrt(v) + eps)                  (centered: of v - a^2, with a = alpha * a + (1 - alpha) * g)
//   buffer = momentum * buffer + d
//   parameter -= lr * (buffer if momentum, else d)
class KEYWAY_API RMSprop : public OptimizerOf<RMSpropOptions, RMSpropParamState> {
 public:
  using OptimizerOf::OptimizerOf;

 protected:
  void update(const Tensor& parameter, const Tensor& grad, const RMSpropOptions& options,
              RMSpropParamState& state) override;
  bool may_be_captured() const override { return true; }
};

}  // namespace keyway::inline v1::optim
