// SGD: stochastic gradient descent, with momentum if asked for.
#pragma once

#include <keyway/nn/optim/optimizer.h>
#include <keyway/nn/option.h>

#include <optional>

namespace keyway::inline v1::optim {

class KEYWAY_API SGDOptions : public OptimizerCloneableOptions<SGDOptions> {
 public:
  SGDOptions(double lr = 1e-3) : lr_(lr) {}  // NOLINT
  KEYWAY_VISIT_OPTIONS(lr_, momentum_, dampening_, weight_decay_, nesterov_, maximize_)
  void check() const override;
  KEYWAY_OPTION(double, lr);
  KEYWAY_OPTION(double, momentum) = 0;
  KEYWAY_OPTION(double, dampening) = 0;
  KEYWAY_OPTION(double, weight_decay) = 0;
  KEYWAY_OPTION(bool, nesterov) = false;
  KEYWAY_OPTION(bool, maximize) = false;
  // Whether all parameters are changed by one call of _fused_sgd_. If it is not said: floating point ones on devices
  // for which there is a kernel of it, but for steps on the CPU that are an addition each. No part of the optimizer's
  // state.
  KEYWAY_OPTION(std::optional<bool>, fused) = std::nullopt;
};

class KEYWAY_API SGDParamState : public OptimizerParamState {
 public:
  std::vector<NamedTensor> tensors() override { return {{"momentum_buffer", &momentum_buffer}}; }
  // Without momentum there is none.
  bool may_lack(std::string_view /*name*/, const Tensor& /*parameter*/) const override { return true; }
  Tensor momentum_buffer;
};

// With g = gradient + weight_decay * parameter (if `maximize`, -gradient + weight_decay * parameter):
//   buffer = momentum * buffer + (1 - dampening) * g      (at first: g)
//   parameter -= lr * (nesterov ? g + momentum * buffer : buffer)
class KEYWAY_API SGD : public OptimizerOf<SGDOptions, SGDParamState> {
 public:
  using OptimizerOf::OptimizerOf;

 protected:
  void update(const Tensor& parameter, const Tensor& grad, const SGDOptions& options, SGDParamState& state) override;
  void update_fused(std::vector<ParamChange>& changes, const SGDOptions& options) override;
  bool may_be_captured() const override { return true; }
};

}  // namespace keyway::inline v1::optim
