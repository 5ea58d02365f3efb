#include <keyway/backends/cpu/parallel.h>
#include <keyway/backends/cpu/thread_at_work.h>
#include <keyway/core/keys/thread_state.h>
#include <keyway/core/tensor/copy_on_write.h>
#include <keyway/graph/section_runner.h>
#include <keyway/tasks/launch.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <limits>
#include <mutex>
#include <numeric>
#include <utility>

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

constinit std::atomic<int> forced{0};

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// What a run throws: of the steps that throw the first one's exception. So a step of lower number than one that has
// thrown is made, and a later one is not.
class FirstFailure {
 public:
  explicit FirstFailure(const SectionRunner::MakeStep& make_step) : make_step_(make_step) {}

  // May be called from several threads.
  void make(std::size_t step) noexcept {
    if (step > step_.load(std::memory_order_relaxed)) return;
    try {
      make_step_(step);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (step > step_.load(std::memory_order_relaxed)) return;
      step_.store(step, std::memory_order_relaxed);
      error_ = std::current_exception();
    }
  }
  bool is_there() const { return step_.load(std::memory_order_relaxed) != kNoFailure; }
  void rethrow() const {
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

 private:
  static constexpr std::size_t kNoFailure = ~std::size_t{0};

  const SectionRunner::MakeStep& make_step_;
  std::atomic<std::size_t> step_{kNoFailure};
  std::mutex mutex_;
  std::exception_ptr error_;
};

// A thread with the keys and modes of another one while it lives.
class WithThreadState {
 public:
  explicit WithThreadState(const ThreadState& state) : before_(std::exchange(thread_state, state)) {}
  ~WithThreadState() { thread_state = before_; }
  WithThreadState(const WithThreadState&) = delete;
  WithThreadState& operator=(const WithThreadState&) = delete;

 private:
  ThreadState before_;
};

// Parts need of the state of their run no more than its keys, and share no bytes as it does not: they are calls of
// functions of the CPU. So no device can fail, and a part throws nothing.
void run_beside(const Section& section, FirstFailure& failure) {
  const auto run_part = [&section, &failure, state = thread_state](std::size_t number) noexcept {
    const WithThreadState with(state);
    const NoSharing own;
    const ThreadAtWork at_work;
    for (const std::size_t step : section.parts[number]) failure.make(step);
  };
  const std::size_t count = section.parts.size();
  std::vector<Future<void>> others;
  others.reserve(count);
  std::size_t launched = 1;
  try {
    for (; launched < count; ++launched)
      others.push_back(keyway::detail::launch_bare([&run_part, launched] { run_part(launched); }));
  } catch (...) {
    // What cannot be launched runs here: those that are refer to the plan's run, which so has to wait for them.
  }
  run_part(0);
  for (; launched < count; ++launched) run_part(launched);
  for (const Future<void>& other : others) other.wait();
}

}  // namespace

ForcedSections::ForcedSections() { forced.fetch_add(1); }
ForcedSections::~ForcedSections() { forced.fetch_sub(1); }
bool ForcedSections::are_asked_for() { return forced.load() > 0; }

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
  FirstFailure failure(make_step);
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    const Section& section = sections_[i];
    const bool is_timed = is_trial && section.is_parallel();
    const Stopwatch time;
    if (!section.is_parallel()) {
      for (const std::size_t step : section.parts[0]) failure.make(step);
    } else if (is_beside && !failure.is_there()) {
      run_beside(section, failure);
    } else {
      for (const std::size_t step : section.steps()) failure.make(step);
    }
    if (!is_timed) continue;
    double& least = is_beside ? tried_[i].beside : tried_[i].in_turn;
    least = std::min(least, time.seconds());
  }
  failure.rethrow();
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
    tried_.assign(sections_.size(), {kUntried, kUntried});
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
    if (!sections_[i].is_parallel() || tried_[i].beside < (1 - kLeastShareOfTurn) * tried_[i].in_turn) continue;
    sections_[i].parts = {sections_[i].steps()};
  }
  if (!has_parallel()) sections_ = in_order(steps_.size());
  phase_ = Phase::Learned;
}

}  // namespace keyway::inline v1::graph
