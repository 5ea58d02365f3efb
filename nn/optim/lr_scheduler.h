// Learning-rate schedules: step() after each optimizer.step(), or after each epoch.
//
//   optim::StepLR schedule(optimizer, /*step_size=*/30, /*gamma=*/0.1);
//
// Here are schedules that look at the number of the step; lr_cycles.h has those that go up and down, lr_plateau.h the
// one that looks at a measure, lr_chains.h those that are made of others.
#pragma once

#include <keyway/nn/optim/optimizer.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace keyway::inline v1::optim {

// The base of schedules. The first step, 0, is done when a schedule is made. Groups remember the learning rate that
// they had before their first schedule: base_lrs. Requires: the optimizer outlives this.
class KEYWAY_API LRScheduler {
 public:
  LRScheduler(const LRScheduler&) = delete;
  LRScheduler& operator=(const LRScheduler&) = delete;
  virtual ~LRScheduler();

  // Gives the groups their next learning rates.
  virtual void step();
  // The number of the latest step.
  std::int64_t step_count() const { return last_epoch_; }
  // The present learning rates of all groups.
  std::vector<double> get_last_lr() const;
  Optimizer& optimizer() const { return optimizer_; }

  // The numbers that steps change. The learning rates themselves are in the optimizer's state.
  nn::StateDict state_dict() const;
  // Goes on from there. Throws keyway::Error where a number is missing; then nothing has changed.
  void load_state_dict(const nn::StateDict& state);

 protected:
  using Visit = std::function<void(const std::string& name, double& number)>;

  // Changes nothing of the optimizer: the class may still refuse its options.
  explicit LRScheduler(Optimizer& optimizer);
  // Step 0; the last thing that the constructor of the class does that has get_lr(). Groups without a first learning
  // rate have it from here on.
  void begin();
  // The learning rates of step `last_epoch`; the groups still have those of the step before.
  virtual std::vector<double> get_lr() = 0;
  // Throws keyway::Error if groups were added since the schedule was made. First in steps of schedules that have
  // something for each group.
  void check_groups() const;
  // To the next step. After an error the schedule is where it was.
  virtual void advance();
  // Step 0 again: from the first learning rates if starts_over(), else from the present ones.
  void restart();
  virtual bool starts_over() const { return false; }
  // Step 0 again, from the present learning rates. `is_initial`: as begin() does it.
  virtual void begin_again(bool is_initial);
  // The learning rates that groups had before their first schedule.
  void set_first_rates();
  // Calls f for each number that steps change.
  virtual void visit(const Visit& f);
  static void visit_count(const Visit& f, const std::string& name, std::int64_t& count);

  void apply() { set(get_lr()); }
  void set(const std::vector<double>& lrs);

  std::int64_t last_epoch_ = -1;
  bool is_initial_ = false;  // in begin(), and where a chain begins with this schedule
  std::vector<double> base_lrs_;

 private:
  friend class CompositeLR;
  Optimizer& optimizer_;
};

// One number for all groups of an optimizer, or one for each.
class KEYWAY_API PerGroup {
 public:
  PerGroup(double all) : values_{all}, is_for_all_(true) {}             // NOLINT
  PerGroup(std::vector<double> values) : values_(std::move(values)) {}  // NOLINT
  PerGroup(std::initializer_list<double> values) : PerGroup(std::vector(values)) {}
  // Throws keyway::Error, which names the schedule and the option, if there are not as many as groups.
  std::vector<double> of(const Optimizer& optimizer, const char* schedule, const char* option) const;

 private:
  std::vector<double> values_;
  bool is_for_all_ = false;
};

// The first learning rate times lr_lambda(step); one function for all groups, or one for each.
class KEYWAY_API LambdaLR : public LRScheduler {
 public:
  using Lambda = std::function<double(std::int64_t step)>;
  LambdaLR(Optimizer& optimizer, Lambda lr_lambda);
  // Throws keyway::Error unless there are as many functions as groups.
  LambdaLR(Optimizer& optimizer, std::vector<Lambda> lr_lambdas);

 protected:
  std::vector<double> get_lr() override;

 private:
  std::vector<Lambda> lr_lambdas_;
};

// The present learning rate times lr_lambda(step), from step 1 on.
class KEYWAY_API MultiplicativeLR final : public LRScheduler {
 public:
  using Lambda = LambdaLR::Lambda;
  MultiplicativeLR(Optimizer& optimizer, Lambda lr_lambda);
  MultiplicativeLR(Optimizer& optimizer, std::vector<Lambda> lr_lambdas);

 private:
  std::vector<double> get_lr() override;
  std::vector<Lambda> lr_lambdas_;
};

// Schedules that multiply the present learning rates, whoever set them.
class KEYWAY_API ChainableLR : public LRScheduler {
 protected:
  // What a step multiplies by.
  using Ratio = std::function<double(std::int64_t step)>;
  ChainableLR(Optimizer& optimizer, Ratio ratio) : LRScheduler(optimizer), ratio_(std::move(ratio)) {}
  std::vector<double> get_lr() final;
  bool starts_over() const final { return true; }

 private:
  Ratio ratio_;
};

// Times `gamma` every `step_size` steps.
class KEYWAY_API StepLR final : public ChainableLR {
 public:
  StepLR(Optimizer& optimizer, std::int64_t step_size, double gamma = 0.1);
};

// Times `gamma` at each of the steps `milestones`.
class KEYWAY_API MultiStepLR final : public ChainableLR {
 public:
  MultiStepLR(Optimizer& optimizer, std::vector<std::int64_t> milestones, double gamma = 0.1);
};

// Times `gamma` every step.
class KEYWAY_API ExponentialLR final : public ChainableLR {
 public:
  ExponentialLR(Optimizer& optimizer, double gamma);
};

// Times `factor`, in (0, 1], for the first `total_iters` steps.
class KEYWAY_API ConstantLR final : public ChainableLR {
 public:
  ConstantLR(Optimizer& optimizer, double factor = 1.0 / 3, std::int64_t total_iters = 5);
};

// Times a factor that goes in a line from `start_factor` to `end_factor` in `total_iters` steps, and stays there.
class KEYWAY_API LinearLR final : public ChainableLR {
 public:
  LinearLR(Optimizer& optimizer, double start_factor = 1.0 / 3, double end_factor = 1, std::int64_t total_iters = 5);
};

// Times (1 - step / total_iters)^power, which becomes 0 and stays so.
class KEYWAY_API PolynomialLR final : public ChainableLR {
 public:
  explicit PolynomialLR(Optimizer& optimizer, std::int64_t total_iters = 5, double power = 1);
};

// From the first learning rate to `eta_min` and back along a cosine; half a period is `T_max` steps.
class KEYWAY_API CosineAnnealingLR final : public LRScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, std::int64_t T_max, double eta_min = 0);

 private:
  std::vector<double> get_lr() override;
  bool starts_over() const override { return true; }
  // Twice the part of the way from `eta_min` to the top that a step is at.
  double height(std::int64_t step) const;
  std::int64_t T_max_;
  double eta_min_;
};

}  // namespace keyway::inline v1::optim
