#include <keyway/core/base/error.h>
#include <keyway/nn/optim/lr_scheduler.h>

#include <cmath>
#include <numbers>

namespace keyway::inline v1::optim {

LRScheduler::~LRScheduler() = default;

LRScheduler::LRScheduler(Optimizer& optimizer) : optimizer_(optimizer) {
  for (const OptimizerParamGroup& group : optimizer.param_groups()) initial_.push_back(group.options().get_lr());
}

void LRScheduler::step() {
  ++steps_;
  apply();
}

void LRScheduler::apply() {
  const double by = factor(steps_);
  for (std::size_t g = 0; g < initial_.size(); ++g) optimizer_.param_groups()[g].options().set_lr(initial_[g] * by);
}

StepLR::StepLR(Optimizer& optimizer, std::int64_t step_size, double gamma)
    : LRScheduler(optimizer), step_size_(step_size), gamma_(gamma) {
  KEYWAY_CHECK(step_size > 0, "StepLR: the step size is {}, but must be positive", step_size);
  apply();
}

double StepLR::factor(std::int64_t steps) const { return std::pow(gamma_, static_cast<double>(steps / step_size_)); }

CosineLR::CosineLR(Optimizer& optimizer, std::int64_t total, std::int64_t warmup, double floor)
    : LRScheduler(optimizer), total_(total), warmup_(warmup), floor_(floor) {
  KEYWAY_CHECK(warmup >= 0 && total > warmup, "CosineLR: {} steps of warm-up and {} in all leave none to fall in",
               warmup, total);
  apply();
}

double CosineLR::factor(std::int64_t steps) const {
  if (steps < warmup_) return static_cast<double>(steps + 1) / static_cast<double>(warmup_ + 1);
  const double way = std::min(1.0, static_cast<double>(steps - warmup_) / static_cast<double>(total_ - warmup_));
  return floor_ + (1 - floor_) * (1 + std::cos(std::numbers::pi * way)) / 2;
}

}  // namespace keyway::inline v1::optim
