// Rprop: steps by the signs of gradients alone (Riedmiller and Braun, 1993).
#pragma once

#include <keyway/nn/optim/optimizer.h>
#include <keyway/nn/option.h>

#include <tuple>

namespace keyway::inline v1::optim {

class KEYWAY_API RpropOptions : public OptimizerCloneableOptions<RpropOptions> {
 public:
  using Pair = std::tuple<double, double>;
  RpropOptions(double lr = 1e-2) : lr_(lr) {}  // NOLINT
  KEYWAY_VISIT_OPTIONS(lr_, etas_, step_sizes_, maximize_)
  void check() const override;
  KEYWAY_OPTION(double, lr);
  KEYWAY_OPTION(Pair, etas) = {0.5, 1.2};        // below and above 1
  KEYWAY_OPTION(Pair, step_sizes) = {1e-6, 50};  // the least and the greatest
  KEYWAY_OPTION(bool, maximize) = false;
};

class KEYWAY_API RpropParamState : public OptimizerParamState {
 public:
  std::vector<NamedTensor> tensors() override { return {{"prev", &prev}, {"step_size", &step_size}}; }
  Tensor prev, step_size;
};

// With g = gradient (its negative if `maximize`), and a size of step for each element, at first `lr`:
//   size *= etas[1] where g has the sign that it had, etas[0] where it has the other; held between `step_sizes`
//   g = 0 where it has the other sign
//   parameter -= size * sign(g)
class KEYWAY_API Rprop : public OptimizerOf<RpropOptions, RpropParamState> {
 public:
  using OptimizerOf::OptimizerOf;

 protected:
  void update(const Tensor& parameter, const Tensor& grad, const RpropOptions& options,
              RpropParamState& state) override;
  bool may_be_captured() const override { return true; }
};

}  // namespace keyway::inline v1::optim
