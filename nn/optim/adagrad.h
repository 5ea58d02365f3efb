// Adagrad: steps scaled by all squares of the gradient so far (Duchi et al., 2011).
#pragma once

#include <keyway/nn/optim/optimizer.h>
#include <keyway/nn/option.h>

namespace keyway::inline v1::optim {

class KEYWAY_API AdagradOptions : public OptimizerCloneableOptions<AdagradOptions> {
 public:
  AdagradOptions(double lr = 1e-2) : lr_(lr) {}  // NOLINT
  KEYWAY_VISIT_OPTIONS(lr_, lr_decay_, weight_decay_, initial_accumulator_value_, eps_, maximize_)
  void check() const override;
  KEYWAY_OPTION(double, lr);
  KEYWAY_OPTION(double, lr_decay) = 0;
  KEYWAY_OPTION(double, weight_decay) = 0;
  KEYWAY_OPTION(double, initial_accumulator_value) = 0;
  KEYWAY_OPTION(double, eps) = 1e-10;
  KEYWAY_OPTION(bool, maximize) = false;
};

class KEYWAY_API AdagradParamState : public OptimizerParamState {
 public:
  std::vector<NamedTensor> tensors() override { return {{"sum", &sum}}; }
  Tensor sum;
};

// With g = gradient + weight_decay * parameter (if `maximize`, -gradient + weight_decay * parameter), at step t:
//   s += g^2                                                     (at first: initial_accumulator_value)
//   parameter -= lr / (1 + (t - 1) * lr_decay) * g / (sqrt(s) + eps)
class KEYWAY_API Adagrad : public OptimizerOf<AdagradOptions, AdagradParamState> {
 public:
  using OptimizerOf::OptimizerOf;

 protected:
  void update(const Tensor& parameter, const Tensor& grad, const AdagradOptions& options,
              AdagradParamState& state) override;
};

}  // namespace keyway::inline v1::optim
