#include <keyway/core/base/error.h>
#include <keyway/nn/optim/lr_scheduler.h>
#include <keyway/ops/all.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace keyway::inline v1::optim {

LRScheduler::~LRScheduler() = default;

LRScheduler::LRScheduler(Optimizer& optimizer) : optimizer_(optimizer) {
  for (const OptimizerParamGroup& group : optimizer.param_groups()) {
    base_lrs_.push_back(group.initial_lr.value_or(group.options().get_lr()));
  }
}

void LRScheduler::begin() {
  begin_again(/*is_initial=*/true);
  for (std::size_t g = 0; g < base_lrs_.size(); ++g) {
    OptimizerParamGroup& group = optimizer_.param_groups()[g];
    if (!group.initial_lr) group.initial_lr = base_lrs_[g];
  }
}

void LRScheduler::check_groups() const {
  const std::size_t count = optimizer_.param_groups().size();
  KEYWAY_CHECK(base_lrs_.size() == count,
               "a schedule was made for {} groups of parameters, but the optimizer has {}: make the schedule after "
               "add_param_group()",
               base_lrs_.size(), count);
}

void LRScheduler::step() { advance(); }

void LRScheduler::advance() {
  ++last_epoch_;
  try {
    apply();
  } catch (...) {
    --last_epoch_;
    throw;
  }
}

void LRScheduler::restart() {
  if (starts_over()) set_first_rates();
  begin_again(/*is_initial=*/false);
}

// Schedules that multiply leave the learning rates to go on from as they are in the initial step.
void LRScheduler::begin_again(bool is_initial) {
  last_epoch_ = -1;
  is_initial_ = is_initial;
  advance();
  is_initial_ = false;
}

void LRScheduler::set_first_rates() { set(base_lrs_); }

std::vector<double> LRScheduler::get_last_lr() const {
  std::vector<double> lrs;
  for (const OptimizerParamGroup& group : optimizer_.param_groups()) lrs.push_back(group.options().get_lr());
  return lrs;
}

void LRScheduler::set(const std::vector<double>& lrs) {
  for (std::size_t g = 0; g < lrs.size(); ++g) optimizer_.param_groups()[g].options().set_lr(lrs[g]);
}

void LRScheduler::visit_count(const Visit& f, const std::string& name, std::int64_t& count) {
  auto number = static_cast<double>(count);
  f(name, number);
  count = static_cast<std::int64_t>(number);
}

void LRScheduler::visit(const Visit& f) {
  visit_count(f, "last_epoch", last_epoch_);
  for (std::size_t g = 0; g < base_lrs_.size(); ++g) f("base_lrs." + std::to_string(g), base_lrs_[g]);
}

nn::StateDict LRScheduler::state_dict() const {
  nn::StateDict state;
  const auto write = [&](const std::string& name, double& number) { state.insert(name, full({}, number, kDouble)); };
  const_cast<LRScheduler*>(this)->visit(write);  // which it leaves as it is
  return state;
}

void LRScheduler::load_state_dict(const nn::StateDict& state) {
  visit([&](const std::string& name, double&) {
    KEYWAY_CHECK(state.contains(name) && state[name].numel() == 1, "the state of a schedule lacks the number '{}'",
                 name);
  });
  visit([&](const std::string& name, double& number) { number = state[name].item<double>(); });
}

std::vector<double> PerGroup::of(const Optimizer& optimizer, const char* schedule, const char* option) const {
  const std::size_t count = optimizer.param_groups().size();
  if (is_for_all_) return std::vector<double>(count, values_[0]);
  KEYWAY_CHECK(values_.size() == count, "{}: {} has {} numbers, but there are {} groups", schedule, option,
               values_.size(), count);
  return values_;
}

namespace {

std::vector<LambdaLR::Lambda> for_all(const Optimizer& optimizer, LambdaLR::Lambda lambda) {
  return std::vector<LambdaLR::Lambda>(optimizer.param_groups().size(), std::move(lambda));
}

void check_count(const char* schedule, const Optimizer& optimizer, std::size_t count) {
  KEYWAY_CHECK(count == optimizer.param_groups().size(), "{}: there are {} functions, but {} groups", schedule, count,
               optimizer.param_groups().size());
}

}  // namespace

LambdaLR::LambdaLR(Optimizer& optimizer, Lambda lr_lambda)
    : LambdaLR(optimizer, for_all(optimizer, std::move(lr_lambda))) {}
LambdaLR::LambdaLR(Optimizer& optimizer, std::vector<Lambda> lr_lambdas)
    : LRScheduler(optimizer), lr_lambdas_(std::move(lr_lambdas)) {
  check_count("LambdaLR", optimizer, lr_lambdas_.size());
  begin();
}

std::vector<double> LambdaLR::get_lr() {
  check_groups();
  std::vector<double> lrs = base_lrs_;
  for (std::size_t g = 0; g < lrs.size(); ++g) lrs[g] *= lr_lambdas_[g](last_epoch_);
  return lrs;
}

MultiplicativeLR::MultiplicativeLR(Optimizer& optimizer, Lambda lr_lambda)
    : MultiplicativeLR(optimizer, for_all(optimizer, std::move(lr_lambda))) {}
MultiplicativeLR::MultiplicativeLR(Optimizer& optimizer, std::vector<Lambda> lr_lambdas)
    : LRScheduler(optimizer), lr_lambdas_(std::move(lr_lambdas)) {
  check_count("MultiplicativeLR", optimizer, lr_lambdas_.size());
  begin();
}

std::vector<double> MultiplicativeLR::get_lr() {
  check_groups();
  std::vector<double> lrs = get_last_lr();
  if (is_initial_) return lrs;
  for (std::size_t g = 0; g < lrs.size(); ++g) lrs[g] *= lr_lambdas_[g](last_epoch_);
  return lrs;
}

std::vector<double> ChainableLR::get_lr() {
  std::vector<double> lrs = get_last_lr();
  const double by = ratio_(last_epoch_);
  for (double& lr : lrs) lr *= by;
  return lrs;
}

StepLR::StepLR(Optimizer& optimizer, std::int64_t step_size, double gamma)
    : ChainableLR(optimizer, [=](std::int64_t step) { return step > 0 && step % step_size == 0 ? gamma : 1; }) {
  KEYWAY_CHECK(step_size > 0, "StepLR: the step size is {}, but must be positive", step_size);
  begin();
}

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<std::int64_t> milestones, double gamma)
    : ChainableLR(optimizer, [milestones = std::move(milestones), gamma](std::int64_t step) {
        return std::pow(gamma, static_cast<double>(std::ranges::count(milestones, step)));
      }) {
  begin();
}

ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma)
    : ChainableLR(optimizer, [=](std::int64_t step) { return step == 0 ? 1 : gamma; }) {
  begin();
}

ConstantLR::ConstantLR(Optimizer& optimizer, double factor, std::int64_t total_iters)
    : ChainableLR(optimizer, [=](std::int64_t step) {
        if (step == 0) return factor;
        return step == total_iters ? 1 / factor : 1;
      }) {
  KEYWAY_CHECK(0 < factor && factor <= 1, "ConstantLR: the factor is {}, but must be in (0, 1]", factor);
  begin();
}

LinearLR::LinearLR(Optimizer& optimizer, double start_factor, double end_factor, std::int64_t total_iters)
    : ChainableLR(optimizer, [=](std::int64_t step) {
        const auto factor = [&](std::int64_t at) {
          const double way = (end_factor - start_factor) * static_cast<double>(at);
          return start_factor + way / static_cast<double>(total_iters);
        };
        if (step == 0) return start_factor;
        return step > total_iters ? 1 : factor(step) / factor(step - 1);
      }) {
  KEYWAY_CHECK(0 < start_factor && start_factor <= 1 && 0 <= end_factor && end_factor <= 1,
               "LinearLR: the factors are {} and {}, but must be in (0, 1] and [0, 1]", start_factor, end_factor);
  begin();
}

PolynomialLR::PolynomialLR(Optimizer& optimizer, std::int64_t total_iters, double power)
    : ChainableLR(optimizer, [=](std::int64_t step) {
        if (step == 0 || step > total_iters) return 1.0;
        const auto left = static_cast<double>(total_iters - step);
        return std::pow(left / (left + 1), power);
      }) {
  begin();
}

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, std::int64_t T_max, double eta_min)
    : LRScheduler(optimizer), T_max_(T_max), eta_min_(eta_min) {
  KEYWAY_CHECK(T_max > 0, "CosineAnnealingLR: T_max is {}, but must be positive", T_max);
  begin();
}

std::vector<double> CosineAnnealingLR::get_lr() {
  check_groups();
  std::vector<double> lrs = get_last_lr();
  const std::int64_t step = last_epoch_;
  if (step == 0) return lrs;
  if ((step - 1) % (2 * T_max_) == T_max_) {  // from the lowest point there is nothing to be multiplied
    const double rise = (1 - std::cos(std::numbers::pi / static_cast<double>(T_max_))) / 2;
    for (std::size_t g = 0; g < lrs.size(); ++g) lrs[g] += (base_lrs_[g] - eta_min_) * rise;
    return lrs;
  }
  const double ratio = height(step) / height(step - 1);
  for (double& lr : lrs) lr = eta_min_ + (lr - eta_min_) * ratio;
  return lrs;
}

double CosineAnnealingLR::height(std::int64_t step) const {
  return 1 + std::cos(std::numbers::pi * static_cast<double>(step) / static_cast<double>(T_max_));
}

}  // namespace keyway::inline v1::optim
