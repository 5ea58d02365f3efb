// Adafactor: steps scaled by squares of the gradient, of which matrices keep the means of rows and columns only
// (Shazeer and Stern, 2018).
#pragma once

#include <keyway/nn/optim/optimizer.h>
#include <keyway/nn/option.h>

#include <optional>

namespace keyway::inline v1::optim {

class KEYWAY_API AdafactorOptions : public OptimizerCloneableOptions<AdafactorOptions> {
 public:
  AdafactorOptions(double lr = 1e-2) : lr_(lr) {}  // NOLINT
  KEYWAY_VISIT_OPTIONS(lr_, beta2_decay_, eps1_, eps2_, d_, weight_decay_, maximize_)
  void check() const override;
  void check_parameter(const Tensor& parameter) const override;
  KEYWAY_OPTION(double, lr);
  KEYWAY_OPTION(double, beta2_decay) = -0.8;
  KEYWAY_OPTION(std::optional<double>, eps1);  // absent: the difference between 1 and the next number of the dtype
  KEYWAY_OPTION(double, eps2) = 1e-3;
  KEYWAY_OPTION(double, d) = 1;
  KEYWAY_OPTION(double, weight_decay) = 0;
  KEYWAY_OPTION(bool, maximize) = false;
};

class KEYWAY_API AdafactorParamState : public OptimizerParamState {
 public:
  std::vector<NamedTensor> tensors() override {
    return {{"row_var", &row_var}, {"col_var", &col_var}, {"variance", &variance}};
  }
  bool may_lack(std::string_view name, const Tensor& parameter) const override {
    return (name == "variance") == (parameter.dim() > 1);
  }
  bool fits(std::string_view name, const Tensor& tensor, const Tensor& parameter) const override;
  Tensor row_var, col_var;  // of two dimensions or more: [..., rows, 1] and [..., 1, columns]
  Tensor variance;          // of less
};

// With g the gradient (its negative if `maximize`), at step t:
//   b = t^beta2_decay,   rho = min(lr, 1 / sqrt(t)),   a = max(eps2, rms(parameter)) * rho
//   parameter *= 1 - lr * weight_decay
//   row_var += b * (mean of g^2 over the last dimension - row_var);   col_var: over the second last one
//   v = row_var col_var / max(mean of row_var, eps1)          (of one dimension: v += b * (g^2 - v))
//   u = g / max(sqrt(v), eps1)
//   parameter -= a * u / max(1, rms(u) / d)
// Throws keyway::Error for complex parameters. A step waits for the device.
class KEYWAY_API Adafactor : public OptimizerOf<AdafactorOptions, AdafactorParamState> {
 public:
  using OptimizerOf::OptimizerOf;

 protected:
  void update(const Tensor& parameter, const Tensor& grad, const AdafactorOptions& options,
              AdafactorParamState& state) override;
};

}  // namespace keyway::inline v1::optim
