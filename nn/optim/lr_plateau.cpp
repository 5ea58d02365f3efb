#include <keyway/core/base/error.h>
#include <keyway/nn/optim/lr_plateau.h>

#include <algorithm>
#include <limits>

namespace keyway::inline v1::optim {

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer& optimizer, ReduceLROnPlateauOptions options)
    : LRScheduler(optimizer), options_(std::move(options)) {
  options_.min_lr().of(optimizer, "ReduceLROnPlateau", "min_lr");
  const std::string &mode = options_.mode(), &threshold_mode = options_.threshold_mode();
  KEYWAY_CHECK(options_.factor() < 1, "ReduceLROnPlateau: the factor is {}, but must be below 1", options_.factor());
  KEYWAY_CHECK(mode == "min" || mode == "max", "ReduceLROnPlateau: mode is '{}', but must be 'min' or 'max'", mode);
  KEYWAY_CHECK(threshold_mode == "rel" || threshold_mode == "abs",
               "ReduceLROnPlateau: threshold_mode is '{}', but must be 'rel' or 'abs'", threshold_mode);
  constexpr double kWorst = std::numeric_limits<double>::infinity();
  last_epoch_ = 0;
  best_ = mode == "min" ? kWorst : -kWorst;
}

void ReduceLROnPlateau::visit(const Visit& f) {
  LRScheduler::visit(f);
  f("best", best_);
  visit_count(f, "cooldown_counter", cooldown_counter_);
  visit_count(f, "num_bad_epochs", num_bad_epochs_);
}

void ReduceLROnPlateau::step(double measure) {
  const std::vector<double> min_lrs = options_.min_lr().of(optimizer(), "ReduceLROnPlateau", "min_lr");
  ++last_epoch_;
  if (is_better(measure)) {
    best_ = measure;
    num_bad_epochs_ = 0;
  } else {
    ++num_bad_epochs_;
  }
  if (cooldown_counter_ > 0) {
    --cooldown_counter_;
    num_bad_epochs_ = 0;
  }
  if (num_bad_epochs_ <= options_.patience()) return;
  reduce(min_lrs);
  cooldown_counter_ = options_.cooldown();
  num_bad_epochs_ = 0;
}

bool ReduceLROnPlateau::is_better(double measure) const {
  const double sign = options_.mode() == "min" ? -1 : 1, threshold = options_.threshold();
  if (options_.threshold_mode() == "rel") return sign * measure > sign * best_ * (1 + sign * threshold);
  return sign * measure > sign * best_ + threshold;
}

void ReduceLROnPlateau::reduce(const std::vector<double>& min_lrs) {
  for (std::size_t g = 0; g < min_lrs.size(); ++g) {
    OptimizerOptions& options = optimizer().param_groups()[g].options();
    const double lr = options.get_lr(), lower = std::max(lr * options_.factor(), min_lrs[g]);
    if (lr - lower > options_.eps()) options.set_lr(lower);
  }
}

}  // namespace keyway::inline v1::optim
