#include <keyway/backends/cpu/thread_at_work.h>
#include <keyway/core/keys/thread_state.h>
#include <keyway/core/tensor/copy_on_write.h>
#include <keyway/graph/run_sections.h>
#include <keyway/tasks/launch.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

namespace keyway::inline v1::graph {
namespace {

// What a run throws: of the steps that throw the first one's exception. So a step of lower number than one that has
// thrown is made, and a later one is not.
class FirstFailure {
 public:
  explicit FirstFailure(const MakeStep& make_step) : make_step_(make_step) {}

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

  const MakeStep& make_step_;
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

void run_sections(const std::vector<Section>& sections, bool is_beside, const MakeStep& make_step,
                  std::vector<double>* seconds) {
  FirstFailure failure(make_step);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const Section& section = sections[i];
    const Stopwatch time;
    if (!section.is_parallel()) {
      for (const std::size_t step : section.parts[0]) failure.make(step);
    } else if (is_beside && !failure.is_there()) {
      run_beside(section, failure);
    } else {
      for (const std::size_t step : section.steps()) failure.make(step);
    }
    if (seconds != nullptr) (*seconds)[i] = std::min((*seconds)[i], time.seconds());
  }
  failure.rethrow();
}

}  // namespace keyway::inline v1::graph
