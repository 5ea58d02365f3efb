// Learning-rate schedules: step() after each optimizer.step().
#pragma once

#include <keyway/nn/optim/optimizer.h>

#include <cstdint>
#include <vector>

namespace keyway::inline v1::optim {

// Sets each group's learning rate to the one it had at first, times factor(steps so far); the first time when it is
// made.
class KEYWAY_API LRScheduler {
 public:
  virtual ~LRScheduler();
  void step();
  std::int64_t step_count() const { return steps_; }

 protected:
  // Requires: the optimizer outlives this. To be followed by apply() in the constructor of the class that has factor().
  explicit LRScheduler(Optimizer& optimizer);
  void apply();
  virtual double factor(std::int64_t steps) const = 0;

 private:
  Optimizer& optimizer_;
  std::vector<double> initial_;
  std::int64_t steps_ = 0;
};

// Times `gamma` every `step_size` steps.
class KEYWAY_API StepLR final : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, std::int64_t step_size, double gamma = 0.1);

 private:
  double factor(std::int64_t steps) const override;
  std::int64_t step_size_;
  double gamma_;
};

// Rises in a line over the warm-up, then falls along half a cosine to `floor` at `total` steps, and stays there.
class KEYWAY_API CosineLR final : public LRScheduler {
 public:
  CosineLR(Optimizer& optimizer, std::int64_t total, std::int64_t warmup = 0, double floor = 0);

 private:
  double factor(std::int64_t steps) const override;
  std::int64_t total_, warmup_;
  double floor_;
};

}  // namespace keyway::inline v1::optim
