// Muon: momentum made orthogonal, for weights of two dimensions (Jordan et al., 2024).
#pragma once

#include <keyway/nn/optim/optimizer.h>
#include <keyway/nn/option.h>

#include <array>
#include <cstdint>
#include <string>

namespace keyway::inline v1::optim {

class KEYWAY_API MuonOptions : public OptimizerCloneableOptions<MuonOptions> {
 public:
  MuonOptions(double lr = 1e-3) : lr_(lr) {}  // NOLINT
  KEYWAY_VISIT_OPTIONS(lr_, weight_decay_, momentum_, nesterov_, ns_coefficients_, eps_, ns_steps_)
  void check() const override;
  void check_parameter(const Tensor& parameter) const override;
  KEYWAY_OPTION(double, lr);
  KEYWAY_OPTION(double, weight_decay) = 0.1;
  KEYWAY_OPTION(double, momentum) = 0.95;
  KEYWAY_OPTION(bool, nesterov) = true;
  using Coefficients = std::array<double, 3>;
  KEYWAY_OPTION(Coefficients, ns_coefficients) = {3.4445, -4.775, 2.0315};
  KEYWAY_OPTION(double, eps) = 1e-7;
  KEYWAY_OPTION(std::int64_t, ns_steps) = 5;
  // "original", "match_rms_adamw" or "spectral_unclamped". No part of the optimizer's state.
  KEYWAY_OPTION(std::string, adjust_lr_fn) = "original";
};

class KEYWAY_API MuonParamState : public OptimizerParamState {
 public:
  std::vector<NamedTensor> tensors() override { return {{"momentum_buffer", &momentum_buffer}}; }
  Tensor momentum_buffer;
};

// With g the gradient of a parameter [A, B]:
//   m += (1 - momentum) * (g - m)
//   u = g + momentum * (m - g)  if `nesterov`, else m
//   u = u made nearly orthogonal, by `ns_steps` Newton-Schulz iterations a x + b x^3 + c x^5 in bfloat16
//   parameter *= 1 - lr * weight_decay
//   parameter -= lr * r * u
// r is sqrt(max(1, A / B)) for "original", 0.2 * sqrt(max(A, B)) for "match_rms_adamw", and sqrt(A / B) for
// "spectral_unclamped". Throws keyway::Error for complex parameters, and for those of other dimensions.
class KEYWAY_API Muon : public OptimizerOf<MuonOptions, MuonParamState> {
 public:
  using OptimizerOf::OptimizerOf;

 protected:
  void update(const Tensor& parameter, const Tensor& grad, const MuonOptions& options, MuonParamState& state) override;
  bool may_be_captured() const override { return true; }
};

}  // namespace keyway::inline v1::optim
