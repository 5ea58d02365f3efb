#include <keyway/backends/cpu/parallel.h>
#include <keyway/graph/run_sections.h>
#include <keyway/graph/section_runner.h>
#include <keyway/tasks/launch.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace keyway::inline v1::graph {
namespace {

constexpr int kTimedRuns = 2;
constexpr int kTriedRuns = 10;
constexpr std::size_t kMostParts = 16;
// A plan that takes less than this has no sections, nor has it one that gains less than the second: threads wake in
// some microseconds.
constexpr double kShortest = 60e-6, kLeastGain = 15e-6;
// Of the time of a section in turn, what it has to gain to stay.
constexpr double kLeastShareOfTurn = 0.05;
constexpr double kUntried = std::numeric_limits<double>::infinity();

}  // namespace

std::size_t most_parts() {
  const int threads = get_num_threads();
  return threads == 1 ? 1 : std::min<std::size_t>(kMostParts, std::min(threads, get_num_interop_threads()));
}

SectionRunner::SectionRunner(std::vector<StepUse>& steps, std::size_t most_parts, bool is_forced)
    : steps_(steps), sections_(in_order(steps_.size())), seconds_(steps_.size(), kUntried), most_parts_(most_parts) {
  if (!is_forced) return;
  for (StepUse& step : steps_) step.seconds = 1;
  sections_ = find_sections(steps_, most_parts_, 0);
  phase_ = Phase::Learned;
}

bool SectionRunner::has_parallel() const { return std::ranges::any_of(sections_, &Section::is_parallel); }

void SectionRunner::run(const MakeStep& make_step) {
  if (phase_ == Phase::Timing) return time_steps(make_step);
  // Within a loop the other threads have their own shares of it.
  const bool is_within_loop = in_parallel_region();
  const bool is_trial = phase_ == Phase::Trying && !is_within_loop;
  const bool is_beside = !is_within_loop && (phase_ == Phase::Learned || runs_ % 2 == 1);
  run_sections(sections_, is_beside, make_step, is_trial ? &(is_beside ? beside_ : in_turn_) : nullptr);
  if (is_trial) ++runs_;
}

void SectionRunner::time_steps(const MakeStep& make_step) {
  for (std::size_t step = 0; step < steps_.size(); ++step) {
    const Stopwatch time;
    make_step(step);
    seconds_[step] = std::min(seconds_[step], time.seconds());
  }
  ++runs_;
}

bool SectionRunner::learn() {
  if (phase_ == Phase::Timing && runs_ == kTimedRuns) {
    for (std::size_t step = 0; step < steps_.size(); ++step) steps_[step].seconds = seconds_[step];
    if (std::accumulate(seconds_.begin(), seconds_.end(), 0.0) >= kShortest)
      sections_ = find_sections(steps_, most_parts_, kLeastGain);
    in_turn_.assign(sections_.size(), kUntried);
    beside_ = in_turn_;
    runs_ = 0;
    phase_ = has_parallel() ? Phase::Trying : Phase::Learned;
    if (!has_parallel()) sections_ = in_order(steps_.size());
    return has_parallel();
  }
  if (phase_ == Phase::Trying && runs_ == kTriedRuns) {
    choose();
    return true;
  }
  return false;
}

void SectionRunner::choose() {
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    if (!sections_[i].is_parallel() || beside_[i] < (1 - kLeastShareOfTurn) * in_turn_[i]) continue;
    sections_[i].parts = {sections_[i].steps()};
  }
  if (!has_parallel()) sections_ = in_order(steps_.size());
  phase_ = Phase::Learned;
}

}  // namespace keyway::inline v1::graph
