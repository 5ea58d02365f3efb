// ReduceLROnPlateau: a lower learning rate once a measure does not get better any more.
#pragma once

#include <keyway/nn/optim/lr_scheduler.h>
#include <keyway/nn/option.h>

#include <string>

namespace keyway::inline v1::optim {

class ReduceLROnPlateauOptions {
  KEYWAY_OPTION(std::string, mode) = "min";  // or "max"
  KEYWAY_OPTION(double, factor) = 0.1;       // below 1
  KEYWAY_OPTION(std::int64_t, patience) = 10;
  KEYWAY_OPTION(double, threshold) = 1e-4;
  KEYWAY_OPTION(std::string, threshold_mode) = "rel";  // or "abs"
  KEYWAY_OPTION(std::int64_t, cooldown) = 0;
  KEYWAY_OPTION(PerGroup, min_lr) = 0;
  KEYWAY_OPTION(double, eps) = 1e-8;
};

// Times `factor`, but not below `min_lr`, once step(measure) has seen no improvement more than `patience` times in a
// row; `cooldown` steps after that do not count. An improvement is, for mode "min", a measure below best * (1 -
// threshold), or with threshold_mode "abs", below best - threshold; for mode "max", above the opposite. A change of
// less than `eps` is not made. Requires: the optimizer outlives this.
class KEYWAY_API ReduceLROnPlateau : private LRScheduler {
 public:
  // Throws keyway::Error for options that are not as said.
  explicit ReduceLROnPlateau(Optimizer& optimizer, ReduceLROnPlateauOptions options = {});

  // Looks at a measure. Throws keyway::Error if groups were added and `min_lr` has not one number for each.
  void step(double measure);
  using LRScheduler::get_last_lr;
  using LRScheduler::load_state_dict;
  using LRScheduler::optimizer;
  using LRScheduler::state_dict;
  using LRScheduler::step_count;

 private:
  using LRScheduler::step;
  std::vector<double> get_lr() override { return get_last_lr(); }
  void visit(const Visit& f) override;
  bool is_better(double measure) const;
  void reduce(const std::vector<double>& min_lrs);

  ReduceLROnPlateauOptions options_;
  double best_;
  std::int64_t cooldown_counter_ = 0, num_bad_epochs_ = 0;
};

}  // namespace keyway::inline v1::optim
