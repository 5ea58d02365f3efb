// Schedules that go up and down: CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR. The last two change the momentum
// too, which is "momentum", or the first of "betas".
#pragma once

#include <keyway/nn/optim/lr_scheduler.h>
#include <keyway/nn/option.h>

#include <optional>
#include <string>

namespace keyway::inline v1::optim {

// From the first learning rate to `eta_min` along half a cosine of `T_0` steps, then from the top again; each time it
// takes `T_mult` times as many steps (Loshchilov and Hutter, 2017).
class KEYWAY_API CosineAnnealingWarmRestarts final : public LRScheduler {
 public:
  // Throws keyway::Error unless T_0 and T_mult are positive.
  CosineAnnealingWarmRestarts(Optimizer& optimizer, std::int64_t T_0, std::int64_t T_mult = 1, double eta_min = 0);
  using LRScheduler::step;
  // To any epoch, be it between two steps. Throws keyway::Error for a negative one.
  void step(double epoch);

 private:
  std::vector<double> get_lr() override;
  void advance() override;
  void visit(const Visit& f) override;
  void locate(double epoch);
  std::int64_t T_0_, T_mult_;
  double eta_min_;
  double T_i_, T_cur_ = 0;  // the steps of this round, and which one it is
};

class CyclicLROptions {
 public:
  CyclicLROptions(PerGroup base_lr, PerGroup max_lr) : base_lr_(std::move(base_lr)), max_lr_(std::move(max_lr)) {}
  KEYWAY_OPTION(PerGroup, base_lr);
  KEYWAY_OPTION(PerGroup, max_lr);
  KEYWAY_OPTION(std::int64_t, step_size_up) = 2000;
  KEYWAY_OPTION(std::optional<std::int64_t>, step_size_down);  // absent: step_size_up
  KEYWAY_OPTION(std::string, mode) = "triangular";             // or "triangular2" or "exp_range"
  KEYWAY_OPTION(double, gamma) = 1;
  KEYWAY_OPTION(std::function<double(double)>, scale_fn) = nullptr;  // that of the mode
  KEYWAY_OPTION(std::string, scale_mode) = "cycle";                  // or "iterations": what scale_fn is given
  KEYWAY_OPTION(bool, cycle_momentum) = true;
  KEYWAY_OPTION(PerGroup, base_momentum) = 0.8;
  KEYWAY_OPTION(PerGroup, max_momentum) = 0.9;
};

// From `base_lr` up to `max_lr` in a line of `step_size_up` steps, and down again in `step_size_down`, over and over
// (Smith, 2017). What is added to `base_lr` is scaled by scale_fn(x), where x is the number of the cycle, from 1 on, or
// of the step. Modes have their own: "triangular" 1, "triangular2" half of that of the cycle before, "exp_range" gamma
// to the power of the step. With `cycle_momentum`, the momentum goes from `max_momentum` down to `base_momentum` and up
// again.
class KEYWAY_API CyclicLR final : public LRScheduler {
 public:
  // Throws keyway::Error for an unknown mode, and for cycle_momentum where the optimizer has no momentum.
  CyclicLR(Optimizer& optimizer, CyclicLROptions options);

 private:
  std::vector<double> get_lr() override;
  double scale(double x) const;
  CyclicLROptions options_;
  double total_size_, step_ratio_;
  std::vector<double> max_lrs_, base_momentums_, max_momentums_;
};

class OneCycleLROptions {
 public:
  OneCycleLROptions(PerGroup max_lr, std::int64_t total_steps)
      : max_lr_(std::move(max_lr)), total_steps_(total_steps) {}
  KEYWAY_OPTION(PerGroup, max_lr);
  KEYWAY_OPTION(std::int64_t, total_steps);
  KEYWAY_OPTION(double, pct_start) = 0.3;
  KEYWAY_OPTION(std::string, anneal_strategy) = "cos";  // or "linear"
  KEYWAY_OPTION(bool, cycle_momentum) = true;
  KEYWAY_OPTION(PerGroup, base_momentum) = 0.85;
  KEYWAY_OPTION(PerGroup, max_momentum) = 0.95;
  KEYWAY_OPTION(double, div_factor) = 25;
  KEYWAY_OPTION(double, final_div_factor) = 1e4;
  KEYWAY_OPTION(bool, three_phase) = false;
};

// From max_lr / div_factor up to `max_lr` in `pct_start` of all steps, then down to the first one / final_div_factor;
// with `three_phase`, back to the first one in as many steps, and down from there (Smith and Topin, 2018). Between them
// it goes along a cosine or a line. With `cycle_momentum`, the momentum goes the opposite way.
class KEYWAY_API OneCycleLR final : public LRScheduler {
 public:
  // Throws keyway::Error for options that are not as said, and for cycle_momentum where the optimizer has no momentum.
  OneCycleLR(Optimizer& optimizer, OneCycleLROptions options);

 private:
  // Throws keyway::Error after more than `total_steps` steps.
  std::vector<double> get_lr() override;
  // Its last step; which learning rate and momentum it begins and ends with.
  struct Phase {
    double end;
    const std::vector<double>*lr_from, *lr_to, *momentum_from, *momentum_to;
  };
  OneCycleLROptions options_;
  std::vector<double> max_lrs_, min_lrs_, base_momentums_, max_momentums_;
  std::vector<Phase> phases_;
};

}  // namespace keyway::inline v1::optim
