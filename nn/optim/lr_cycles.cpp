#include <keyway/core/base/error.h>
#include <keyway/nn/optim/lr_cycles.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace keyway::inline v1::optim {

namespace {

void check_momentum(const char* schedule, const Optimizer& optimizer) {
  for (const OptimizerParamGroup& group : optimizer.param_groups()) {
    KEYWAY_CHECK(group.options().get_momentum(),
                 "{}: cycle_momentum is for optimizers with momentum or betas, which this one lacks", schedule);
  }
}

}  // namespace

CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(Optimizer& optimizer, std::int64_t T_0, std::int64_t T_mult,
                                                         double eta_min)
    : LRScheduler(optimizer), T_0_(T_0), T_mult_(T_mult), eta_min_(eta_min), T_i_(static_cast<double>(T_0)) {
  KEYWAY_CHECK(T_0 > 0 && T_mult > 0, "CosineAnnealingWarmRestarts: T_0 and T_mult are {} and {}, but must be positive",
               T_0, T_mult);
  begin();
}

std::vector<double> CosineAnnealingWarmRestarts::get_lr() {
  const double part = (1 + std::cos(std::numbers::pi * T_cur_ / T_i_)) / 2;
  std::vector<double> lrs = base_lrs_;
  for (double& lr : lrs) lr = eta_min_ + (lr - eta_min_) * part;
  return lrs;
}

void CosineAnnealingWarmRestarts::step(double epoch) {
  KEYWAY_CHECK(epoch >= 0, "CosineAnnealingWarmRestarts: epoch is {}, but must not be negative", epoch);
  check_groups();
  last_epoch_ = static_cast<std::int64_t>(std::floor(epoch));
  locate(epoch);
  apply();
}

void CosineAnnealingWarmRestarts::advance() {
  check_groups();
  ++last_epoch_;
  if (last_epoch_ == 0) {
    locate(0);
  } else {
    T_cur_ += 1;
    if (T_cur_ >= T_i_) {
      T_cur_ -= T_i_;
      T_i_ *= static_cast<double>(T_mult_);
    }
  }
  apply();
}

void CosineAnnealingWarmRestarts::locate(double epoch) {
  T_i_ = static_cast<double>(T_0_);
  T_cur_ = T_mult_ == 1 ? std::fmod(epoch, T_i_) : epoch;
  while (T_cur_ >= T_i_) {
    T_cur_ -= T_i_;
    T_i_ *= static_cast<double>(T_mult_);
  }
}

void CosineAnnealingWarmRestarts::visit(const Visit& f) {
  LRScheduler::visit(f);
  f("T_i", T_i_);
  f("T_cur", T_cur_);
}

CyclicLR::CyclicLR(Optimizer& optimizer, CyclicLROptions options)
    : LRScheduler(optimizer),
      options_(std::move(options)),
      max_lrs_(options_.max_lr().of(optimizer, "CyclicLR", "max_lr")) {
  const std::string& mode = options_.mode();
  KEYWAY_CHECK(options_.scale_fn() || mode == "triangular" || mode == "triangular2" || mode == "exp_range",
               "CyclicLR: mode is '{}', but must be 'triangular', 'triangular2' or 'exp_range'", mode);
  const std::int64_t up = options_.step_size_up(), down = options_.step_size_down().value_or(up);
  total_size_ = static_cast<double>(up + down);
  step_ratio_ = static_cast<double>(up) / total_size_;
  if (!options_.scale_fn()) options_.scale_mode(mode == "exp_range" ? "iterations" : "cycle");
  base_lrs_ = options_.base_lr().of(optimizer, "CyclicLR", "base_lr");
  if (options_.cycle_momentum()) {
    check_momentum("CyclicLR", optimizer);
    base_momentums_ = options_.base_momentum().of(optimizer, "CyclicLR", "base_momentum");
    max_momentums_ = options_.max_momentum().of(optimizer, "CyclicLR", "max_momentum");
  }
  begin();
}

double CyclicLR::scale(double x) const {
  if (options_.scale_fn()) return options_.scale_fn()(x);
  if (options_.mode() == "triangular") return 1;
  return options_.mode() == "triangular2" ? std::pow(0.5, x - 1) : std::pow(options_.gamma(), x);
}

std::vector<double> CyclicLR::get_lr() {
  check_groups();
  const auto step = static_cast<double>(last_epoch_);
  const double turns = step / total_size_, cycle = std::floor(turns) + 1, part = turns - std::floor(turns);
  double height = part <= step_ratio_ ? part / step_ratio_ : (part - 1) / (step_ratio_ - 1);
  height *= scale(options_.scale_mode() == "cycle" ? cycle : step);
  std::vector<double> lrs = base_lrs_;
  for (std::size_t g = 0; g < lrs.size(); ++g) {
    lrs[g] += (max_lrs_[g] - base_lrs_[g]) * height;
    if (!options_.cycle_momentum()) continue;
    const double low = base_momentums_[g], high = max_momentums_[g];
    optimizer().param_groups()[g].options().set_momentum(high - (high - low) * height);
  }
  return lrs;
}

OneCycleLR::OneCycleLR(Optimizer& optimizer, OneCycleLROptions options)
    : LRScheduler(optimizer),
      options_(std::move(options)),
      max_lrs_(options_.max_lr().of(optimizer, "OneCycleLR", "max_lr")),
      min_lrs_(max_lrs_) {
  const std::string& strategy = options_.anneal_strategy();
  const double start = options_.pct_start(), total = static_cast<double>(options_.total_steps());
  KEYWAY_CHECK(options_.total_steps() > 0, "OneCycleLR: total_steps is {}, but must be positive",
               options_.total_steps());
  KEYWAY_CHECK(0 <= start && start <= 1, "OneCycleLR: pct_start is {}, but must be in [0, 1]", start);
  KEYWAY_CHECK(strategy == "cos" || strategy == "linear",
               "OneCycleLR: anneal_strategy is '{}', but must be 'cos' or 'linear'", strategy);
  for (std::size_t g = 0; g < max_lrs_.size(); ++g) {
    base_lrs_[g] = max_lrs_[g] / options_.div_factor();
    min_lrs_[g] = base_lrs_[g] / options_.final_div_factor();
  }
  if (options_.cycle_momentum()) {
    check_momentum("OneCycleLR", optimizer);
    base_momentums_ = options_.base_momentum().of(optimizer, "OneCycleLR", "base_momentum");
    max_momentums_ = options_.max_momentum().of(optimizer, "OneCycleLR", "max_momentum");
  }
  phases_ = {{start * total - 1, &base_lrs_, &max_lrs_, &max_momentums_, &base_momentums_}};
  if (options_.three_phase()) {
    phases_.push_back({2 * start * total - 2, &max_lrs_, &base_lrs_, &base_momentums_, &max_momentums_});
    phases_.push_back({total - 1, &base_lrs_, &min_lrs_, &max_momentums_, &max_momentums_});
  } else {
    phases_.push_back({total - 1, &max_lrs_, &min_lrs_, &base_momentums_, &max_momentums_});
  }
  begin();
  for (std::size_t g = 0; g < base_lrs_.size(); ++g) optimizer.param_groups()[g].initial_lr = base_lrs_[g];
}

std::vector<double> OneCycleLR::get_lr() {
  check_groups();
  KEYWAY_CHECK(last_epoch_ <= options_.total_steps(), "OneCycleLR: this is step {}, but there are {} in all",
               last_epoch_, options_.total_steps());
  const auto step = static_cast<double>(last_epoch_);
  std::size_t i = 0;
  while (step > phases_[i].end && i + 1 < phases_.size()) ++i;
  const double start = i == 0 ? 0 : phases_[i - 1].end, end = phases_[i].end;
  const double part = end > start ? (step - start) / (end - start) : 1;
  const auto anneal = [&](double from, double to) {
    if (options_.anneal_strategy() == "linear") return from + (to - from) * part;
    return to + (from - to) / 2 * (1 + std::cos(std::numbers::pi * part));
  };
  const Phase& phase = phases_[i];
  std::vector<double> lrs(max_lrs_.size());
  for (std::size_t g = 0; g < lrs.size(); ++g) {
    lrs[g] = anneal((*phase.lr_from)[g], (*phase.lr_to)[g]);
    if (!options_.cycle_momentum()) continue;
    const double momentum = anneal((*phase.momentum_from)[g], (*phase.momentum_to)[g]);
    optimizer().param_groups()[g].options().set_momentum(momentum);
  }
  return lrs;
}

}  // namespace keyway::inline v1::optim
