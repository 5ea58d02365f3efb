// L-BFGS: steps along the gradient times an estimate of the inverse Hessian (Liu and Nocedal, 1989).
#pragma once

#include <keyway/nn/optim/optimizer.h>
#include <keyway/nn/option.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace keyway::inline v1::optim {

class KEYWAY_API LBFGSOptions : public OptimizerCloneableOptions<LBFGSOptions> {
 public:
  LBFGSOptions(double lr = 1) : lr_(lr) {}  // NOLINT
  void visit(OptionVisitor& visitor) override;
  void check() const override;
  KEYWAY_OPTION(double, lr);
  KEYWAY_OPTION(std::int64_t, max_iter) = 20;
  KEYWAY_OPTION(std::optional<std::int64_t>, max_eval);  // absent: max_iter * 5 / 4
  KEYWAY_OPTION(double, tolerance_grad) = 1e-7;
  KEYWAY_OPTION(double, tolerance_change) = 1e-9;
  KEYWAY_OPTION(std::int64_t, history_size) = 100;
  // "strong_wolfe", or absent. No part of the optimizer's state.
  KEYWAY_OPTION(std::optional<std::string>, line_search_fn);
  KEYWAY_OPTION(bool, maximize) = false;
};

// Of all parameters; it is remembered with the first.
class KEYWAY_API LBFGSParamState : public OptimizerParamState {
 public:
  void visit(const std::function<void(std::string_view, Tensor&)>& f) override;
  bool may_lack(std::string_view name, const Tensor& parameter) const override;
  ScalarType dtype_of(std::string_view name, const Tensor& parameter) const override;
  void visit_numbers(const std::function<void(std::string_view, double&)>& f) override;
  bool fits(std::string_view name, const Tensor& tensor, const Tensor& parameter) const override;

  double func_evals = 0, n_iter = 0;
  Tensor d, prev_flat_grad,
      H_diag;  // the latest direction and gradient, flat; the estimate's diagonal, of no dimensions
  double t = 0, prev_loss = 0;
  std::vector<Tensor> old_dirs, old_stps, ro;  // changes of the gradient and of the parameters, and 1 / their products
};

// Each step makes up to `max_iter` iterations, with at most about `max_eval` calls of the closure:
//   parameters += t * d,   d = -(inverse Hessian, estimated from the last `history_size` changes) * gradient
// t is `lr`, in the first iteration lr * min(1, 1 / |gradient|_1); with a line search that is where the search for t
// begins. A step ends early where no element of the gradient exceeds `tolerance_grad`, or neither parameters nor the
// loss change by more than `tolerance_change`.
class KEYWAY_API LBFGS : public Optimizer {
 public:
  // Throws keyway::Error unless there is one group.
  explicit LBFGS(std::vector<OptimizerParamGroup> groups, LBFGSOptions defaults = {});
  explicit LBFGS(std::vector<Tensor> params, LBFGSOptions defaults = {})
      : LBFGS(std::vector<OptimizerParamGroup>{std::move(params)}, std::move(defaults)) {}

  // Returns the closure's first result. Throws keyway::Error without a closure. Where the closure throws, parameters
  // stay where it was called: within a line search that may be far along the direction. Waits for the device.
  Tensor step(const LossClosure& closure) override;

 protected:
  std::unique_ptr<OptimizerParamState> make_state() const override;
};

}  // namespace keyway::inline v1::optim
