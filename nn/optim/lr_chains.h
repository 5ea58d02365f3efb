// Schedules of learning rates that are made of others.
#pragma once

#include <keyway/nn/optim/lr_scheduler.h>

#include <memory>

namespace keyway::inline v1::optim {

// What both share. Throws keyway::Error if there are no schedules, and if they have different optimizers.
class KEYWAY_API CompositeLR : public LRScheduler {
 protected:
  CompositeLR(const char* name, std::vector<std::shared_ptr<LRScheduler>> schedulers);
  std::vector<double> get_lr() override { return get_last_lr(); }
  void visit(const Visit& f) override;
  bool starts_over() const final { return true; }
  void restart_one(std::size_t i) { schedulers_[i]->restart(); }
  void begin_one_again(std::size_t i, bool is_initial) { schedulers_[i]->begin_again(is_initial); }

  std::vector<std::shared_ptr<LRScheduler>> schedulers_;
};

// Several schedules of one optimizer, which all step at once.
class KEYWAY_API ChainedScheduler final : public CompositeLR {
 public:
  explicit ChainedScheduler(std::vector<std::shared_ptr<LRScheduler>> schedulers);
  void step() override;

 private:
  void begin_again(bool is_initial) override;
};

// One schedule after the other: the next begins, with its step 0, at each of the steps `milestones`. It begins from the
// first learning rates if it multiplies these by what the step's number says; MultiplicativeLR and SWALR go on from the
// present ones.
class KEYWAY_API SequentialLR final : public CompositeLR {
 public:
  // Throws keyway::Error unless there is one milestone fewer than schedules, which have this optimizer.
  SequentialLR(Optimizer& optimizer, std::vector<std::shared_ptr<LRScheduler>> schedulers,
               std::vector<std::int64_t> milestones);
  void step() override;

 private:
  void begin_again(bool is_initial) override;
  std::vector<std::int64_t> milestones_;
};

}  // namespace keyway::inline v1::optim
