// The profiler: which operators are called, with what, for how long, on which thread.
//
// A CallListener hears of every call of an operator, once, however many keys the call passes. For the calls of one
// thread that is the key Profiler: a listener puts it into the thread's state and a fallback kernel stands at it, so
// that calls of other threads, and all calls when nobody listens, cost nothing more. For the calls of all threads it is
// an observer (observer.h).
//
// Profile is a listener that adds up and remembers:
//
//   const auto profile = std::make_shared<Profile>();
//   {
//     const ThreadListenerGuard listening(profile);
//     train_step();
//   }
//   std::cout << profile->table();
#pragma once

#include <keyway/core/keys/thread_state.h>
#include <keyway/dispatch/registry/observer.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace keyway::inline v1 {

struct CallEvent {
  const OperatorEntry& op;
  DispatchKeySet keys;  // of the call, without Profiler and what falls through
  const Stack& stack;
  std::size_t first;  // of the arguments on the stack; at the end of a call, of the results
};

class KEYWAY_API CallListener {
 public:
  virtual ~CallListener();
  // From the thread of the call; several at a time if it listens to several threads. What they throw ends the call.
  virtual void begin(const CallEvent& call) = 0;
  // `threw`: there are no results. Does not throw.
  virtual void end(const CallEvent& call, bool threw) noexcept = 0;
};

namespace detail {
// The fallback at Profiler, there while anyone needs it.
class KEYWAY_API ProfilerFallback {
 public:
  ProfilerFallback();
  ~ProfilerFallback();
  ProfilerFallback(const ProfilerFallback&) = delete;
  ProfilerFallback& operator=(const ProfilerFallback&) = delete;
};
}  // namespace detail

// The calls that this thread makes while it lives, also those of a backward that it runs. Goes on the thread that made
// it, the latest first.
class KEYWAY_API ThreadListenerGuard {
 public:
  explicit ThreadListenerGuard(std::shared_ptr<CallListener> listener);
  ~ThreadListenerGuard();
  ThreadListenerGuard(const ThreadListenerGuard&) = delete;
  ThreadListenerGuard& operator=(const ThreadListenerGuard&) = delete;

 private:
  detail::ProfilerFallback fallback_;
  IncludeDispatchKeyGuard include_;
  std::shared_ptr<CallListener> listener_;
  const ThreadListenerGuard* outer_;
  friend struct ThreadListeners;
};

// The calls of all threads, until the handle goes.
[[nodiscard]] KEYWAY_API ObserverHandle listen_to_all_threads(std::shared_ptr<CallListener> listener);

// Adds up what calls took, and remembers each if it is asked to.
class KEYWAY_API Profile : public CallListener {
 public:
  using Clock = std::chrono::steady_clock;

  struct Options {
    bool events = false;  // remember every call, for trace(): about 100 bytes each
    bool shapes = false;  // and its arguments
    // Also what calls take on their devices, by two events each. What is captured for a graph has no time.
    bool device_times = false;
  };
  Profile();
  explicit Profile(Options options);
  ~Profile() override;

  void begin(const CallEvent& call) override;
  void end(const CallEvent& call, bool threw) noexcept override;

  struct Row {
    std::string op;      // "mm"
    std::string keys;    // "AutogradCPU, CPU": the keys whose kernels ran, in order
    std::string kernel;  // of the last one, as it was registered
    std::uint64_t calls;
    double self_seconds;   // without what it called
    double total_seconds;  // with it
    // On the device, from the first work of the call to the last; 0 without Options::device_times.
    double device_self_seconds = 0;
    double device_total_seconds = 0;
  };
  enum class Column { Op, Calls, Self, Total, Mean, DeviceSelf, DeviceTotal };
  // The largest first; by the names of operators, in their order. Waits for the devices, with Options::device_times.
  std::vector<Row> rows(Column by = Column::Self) const;
  // For people: `most` rows, and one for the others. Times in milliseconds; calls and times are divided by `runs`.
  std::string table(Column by = Column::Self, std::size_t most = 20, std::uint64_t runs = 1) const;
  // The calling thread's number in traces.
  static std::uint64_t thread_number();
  // Chrome's trace event format, which Perfetto reads: one complete event a call, times in microseconds. Empty without
  // Options::events.
  std::string trace() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace keyway::inline v1
