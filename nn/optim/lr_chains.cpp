#include <keyway/core/base/error.h>
#include <keyway/nn/optim/lr_chains.h>

#include <algorithm>

namespace keyway::inline v1::optim {

namespace {

using Schedulers = std::vector<std::shared_ptr<LRScheduler>>;

Optimizer& optimizer_of(const char* name, const Schedulers& schedulers) {
  KEYWAY_CHECK(!schedulers.empty() && std::ranges::all_of(schedulers, [](const auto& s) { return s != nullptr; }),
               "{}: there must be one schedule at least, and none may be null", name);
  Optimizer& optimizer = schedulers[0]->optimizer();
  KEYWAY_CHECK(std::ranges::all_of(schedulers, [&](const auto& s) { return &s->optimizer() == &optimizer; }),
               "{}: its schedules must have one optimizer", name);
  return optimizer;
}

}  // namespace

CompositeLR::CompositeLR(const char* name, Schedulers schedulers)
    : LRScheduler(optimizer_of(name, schedulers)), schedulers_(std::move(schedulers)) {
  last_epoch_ = 0;
}

void CompositeLR::visit(const Visit& f) {
  LRScheduler::visit(f);
  for (std::size_t i = 0; i < schedulers_.size(); ++i) {
    const std::string prefix = "schedulers." + std::to_string(i) + ".";
    schedulers_[i]->visit([&](const std::string& name, double& number) { f(prefix + name, number); });
  }
}

ChainedScheduler::ChainedScheduler(Schedulers schedulers) : CompositeLR("ChainedScheduler", std::move(schedulers)) {}

void ChainedScheduler::step() {
  for (const auto& scheduler : schedulers_) scheduler->step();
  ++last_epoch_;
}

void ChainedScheduler::begin_again(bool is_initial) {
  last_epoch_ = 0;
  for (std::size_t i = 0; i < schedulers_.size(); ++i) begin_one_again(i, is_initial);
}

SequentialLR::SequentialLR(Optimizer& optimizer, Schedulers schedulers, std::vector<std::int64_t> milestones)
    : CompositeLR("SequentialLR", std::move(schedulers)), milestones_(std::move(milestones)) {
  KEYWAY_CHECK(&this->optimizer() == &optimizer, "SequentialLR: its schedules must have its optimizer");
  KEYWAY_CHECK(milestones_.size() + 1 == schedulers_.size(),
               "SequentialLR: there are {} milestones for {} schedules, but must be one fewer", milestones_.size(),
               schedulers_.size());
  set_first_rates();
  begin_again(/*is_initial=*/true);
}

void SequentialLR::step() {
  const std::int64_t step = last_epoch_ + 1;
  const auto next = std::ranges::upper_bound(milestones_, step);
  const auto i = static_cast<std::size_t>(next - milestones_.begin());
  if (i > 0 && milestones_[i - 1] == step) {
    restart_one(i);
  } else {
    schedulers_[i]->step();
  }
  last_epoch_ = step;
}

void SequentialLR::begin_again(bool is_initial) {
  last_epoch_ = 0;
  begin_one_again(0, is_initial);
}

}  // namespace keyway::inline v1::optim
