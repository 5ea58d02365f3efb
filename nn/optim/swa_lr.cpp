#include <keyway/core/base/error.h>
#include <keyway/nn/optim/swa_lr.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace keyway::inline v1::optim {

SWALR::SWALR(Optimizer& optimizer, PerGroup swa_lr, std::int64_t anneal_epochs, std::string anneal_strategy)
    : LRScheduler(optimizer),
      swa_lrs_(swa_lr.of(optimizer, "SWALR", "swa_lr")),
      anneal_epochs_(anneal_epochs),
      anneal_strategy_(std::move(anneal_strategy)) {
  KEYWAY_CHECK(anneal_strategy_ == "cos" || anneal_strategy_ == "linear",
               "SWALR: anneal_strategy is '{}', but must be 'cos' or 'linear'", anneal_strategy_);
  KEYWAY_CHECK(anneal_epochs >= 0, "SWALR: anneal_epochs is {}, but must not be negative", anneal_epochs);
  begin();
}

double SWALR::part(std::int64_t step) const {
  const double way = static_cast<double>(step) / static_cast<double>(std::max<std::int64_t>(1, anneal_epochs_));
  const double t = std::max(0.0, std::min(1.0, way));
  return anneal_strategy_ == "cos" ? (1 - std::cos(std::numbers::pi * t)) / 2 : t;
}

std::vector<double> SWALR::get_lr() {
  check_groups();
  const std::int64_t step = anneal_epochs_ == 0 ? std::max<std::int64_t>(1, last_epoch_) : last_epoch_;
  const double before = part(step - 1), now = part(step);
  std::vector<double> lrs = get_last_lr();
  for (std::size_t g = 0; g < lrs.size(); ++g) {
    const double goal = swa_lrs_[g], start = before == 1 ? goal : (lrs[g] - before * goal) / (1 - before);
    lrs[g] = goal * now + start * (1 - now);
  }
  return lrs;
}

}  // namespace keyway::inline v1::optim
