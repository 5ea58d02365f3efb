// launch: tasks that run beside each other, and futures of what they give.
//
//   const Future<Tensor> left = launch([&] { return encode(a); });
//   const Tensor right = encode(b);
//   decode(left.wait(), right);
//
// One pool of threads serves the tasks of a process, beside the one that serves the loops of kernels
// (backends/cpu/parallel.h). It starts with the first task. A task runs with the ThreadLocalState of its launch, and so
// does the same in whatever thread it runs.
// Whoever waits for a task that no thread has begun runs it; a thread of the pool that waits for something else makes
// room for another one. So tasks may launch tasks and wait for them, however many threads there are.
//
// Within a capture of a graph a task is run where it is launched, since a graph has the calls of one thread.
//
// At the end of the process tasks that run are waited for, and others are dropped. A forked child has no thread of the
// pool: it starts its own, runs what it waits for, and gets an error for a task that a thread of its parent had begun.
#pragma once

#include <keyway/tasks/thread_local_state.h>

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

// How many tasks run at once. As long as nobody has set it: what get_num_threads() gives.
KEYWAY_API int get_num_interop_threads();
// For the next tasks. Throws keyway::Error if n is not in [1, 1024].
KEYWAY_API void set_num_interop_threads(int n);

namespace detail {

// Waits for the tasks that run; those that no thread has begun are left to who waits for them. What is launched from
// now on runs in its launch. For what ends before the process does, as an interpreter.
KEYWAY_API void end_interop_threads();

// Runs once.
class KEYWAY_API Task {
 public:
  Task();
  virtual ~Task();
  // False if it had begun before.
  bool run_unless_begun();
  // Whether a thread of the process that this one was forked from had begun it.
  bool is_lost() const;
  bool has_begun() const { return begun_.load(std::memory_order_relaxed) != 0; }

 private:
  virtual void run() = 0;

  std::atomic<unsigned> begun_{0};  // 1 + how many forks lay behind the process; the largest number: and ended
};

KEYWAY_API void launch_task(const std::shared_ptr<Task>& task);

// The part of a future that knows no type. No lock: a fork cannot leave it half changed.
class KEYWAY_API FutureState {
 public:
  // tasks: those that will complete it, if they are known.
  explicit FutureState(std::vector<std::shared_ptr<Task>> tasks) : tasks_(std::move(tasks)) {}
  FutureState(const FutureState&) = delete;
  FutureState& operator=(const FutureState&) = delete;
  virtual ~FutureState();

  const std::vector<std::shared_ptr<Task>>& tasks() const { return tasks_; }
  bool done() const { return phase_.load(std::memory_order_acquire) == kDone; }
  void wait();
  // Throws the error, or that it is not done.
  void check_value() const;
  // Null if it is not done, or has none.
  std::exception_ptr error() const { return done() ? error_ : nullptr; }
  // Called with the ThreadLocalState of now, when it is done: in the thread that completes it, or here.
  void when_done(std::function<void()> callback);

  // Whoever completes it begins with this: false if another has begun. Then comes the value, and complete().
  bool begin_completion();
  void complete(std::exception_ptr error = nullptr);
  // An error unless this call was the one that completed it.
  static void check(bool by_this_call);

 private:
  enum Phase : int { kPending, kCompleting, kDone };
  struct Callback;
  void call_back(Callback* latest);

  const std::vector<std::shared_ptr<Task>> tasks_;
  std::atomic<int> phase_{kPending};
  std::exception_ptr error_;
  std::atomic<Callback*> callbacks_{nullptr};  // the latest one first
};

template <typename T>
struct FutureValue final : FutureState {
  using FutureState::FutureState;
  std::optional<T> value;
};
template <>
struct FutureValue<void> final : FutureState {
  using FutureState::FutureState;
};

// Completes a future with what a function gives or throws. If somebody else has, gives false without a call.
template <typename T, typename F>
bool complete_with(FutureValue<T>& future, const F& f) {
  if (!future.begin_completion()) return false;
  std::exception_ptr error;
  try {
    if constexpr (std::is_void_v<T>) {
      f();
    } else {
      future.value.emplace(f());
    }
  } catch (...) {
    error = std::current_exception();
  }
  future.complete(std::move(error));
  return true;
}

// A function that is called once, with the state of the thread that made this.
template <typename F>
class WithState {
 public:
  explicit WithState(F f) : f_(std::move(f)) {}
  auto operator()() {
    const ThreadLocalStateGuard guard(state_);
    F f = std::move(f_);
    return f();
  }

 private:
  F f_;
  ThreadLocalState state_;
};

// Declared here for Future.
template <typename F>
auto launch_bare(F f);

template <typename T, typename F>
class TaskOf final : public Task {
 public:
  explicit TaskOf(F f) : f_(std::move(f)) {}
  void completes(std::shared_ptr<FutureValue<T>> future) { future_ = std::move(future); }

 private:
  // What the function holds is let go before anybody hears that it is done.
  void run() override {
    const std::shared_ptr<FutureValue<T>> future = std::move(future_);
    complete_with(*future, [&]() -> T {
      F f = std::move(*f_);
      f_.reset();
      return f();
    });
  }

  std::optional<F> f_;
  std::shared_ptr<FutureValue<T>> future_;
};

}  // namespace detail

// What a task, or somebody else, will give: a reference to it that may be copied. Names are those of PyTorch's
// torch.futures.Future. Every function may be called from any thread.
template <typename T>
class Future {
 public:
  // One that set_result() or set_exception() completes.
  Future() : Future(std::vector<std::shared_ptr<detail::Task>>()) {}

  bool done() const { return state_->done(); }
  // Null if it is not done, or was done without one.
  std::exception_ptr exception() const { return state_->error(); }

  // Waits until it is done. Gives the value, or throws the exception.
  T wait() const {
    state_->wait();
    return value();
  }
  // The same without waiting: throws keyway::Error if it is not done.
  T value() const {
    state_->check_value();
    if constexpr (!std::is_void_v<T>) return *state_->value;
  }

  // Calls callback(future) when it is done, in the thread that completes it, or at once if it is done. What the
  // callback throws is a warning.
  template <typename F>
  void add_done_callback(F callback) const {
    // Held by what completes the future, which the callback so need not hold.
    state_->when_done([weak = std::weak_ptr(state_), f = std::move(callback)]() mutable {
      if (auto state = weak.lock()) f(Future(std::move(state)));
    });
  }
  // The same, with a future of what the callback gives or throws.
  template <typename F>
  auto then(F callback) const {
    using R = std::remove_cvref_t<std::invoke_result_t<F&, const Future&>>;
    const Future<R> next(state_->tasks());
    add_done_callback([next, f = std::move(callback)](const Future& completed) mutable {
      detail::complete_with(*next.state_, [&]() -> R { return f(completed); });
    });
    return next;
  }

  // Throws keyway::Error if it has been completed; so does set_exception().
  template <typename V = T>
  void set_result(std::type_identity_t<V> value) const {
    state_->check(try_set_result(std::move(value)));
  }
  void set_result() const requires std::is_void_v<T> { state_->check(try_set_result()); }
  // Requires: `error` is not null.
  void set_exception(const std::exception_ptr& error) const { state_->check(try_set_exception(error)); }
  // The same, but false if it has been.
  template <typename V = T>
  bool try_set_result(std::type_identity_t<V> value) const {
    return detail::complete_with(*state_, [&] { return std::move(value); });
  }
  bool try_set_result() const requires std::is_void_v<T> {
    return detail::complete_with(*state_, [] {});
  }
  bool try_set_exception(const std::exception_ptr& error) const {
    return detail::complete_with(*state_, [&]() -> T { std::rethrow_exception(error); });
  }

  // One that is completed like a default one, and by what these tasks do: who waits for it may run them.
  explicit Future(std::vector<std::shared_ptr<detail::Task>> tasks)
      : state_(std::make_shared<detail::FutureValue<T>>(std::move(tasks))) {}
  const std::vector<std::shared_ptr<detail::Task>>& tasks() const { return state_->tasks(); }

 private:
  template <typename>
  friend class Future;
  template <typename F>
  friend auto detail::launch_bare(F f);
  explicit Future(std::shared_ptr<detail::FutureValue<T>> state) : state_(std::move(state)) {}

  std::shared_ptr<detail::FutureValue<T>> state_;
};

namespace detail {

// launch() without a state: the function meets that of the thread that runs it.
template <typename F>
auto launch_bare(F f) {
  using T = std::remove_cvref_t<std::invoke_result_t<F&>>;
  const auto task = std::make_shared<TaskOf<T, F>>(std::move(f));
  Future<T> future({task});
  task->completes(future.state_);
  launch_task(task);
  return future;
}

}  // namespace detail

// Runs f() in a thread of the pool. Its exception is the future's.
template <typename F>
auto launch(F f) {
  return detail::launch_bare(detail::WithState<F>(std::move(f)));
}

// Done when all are: with these futures as its value, or by the exception of the first in their order that failed.
template <typename T>
Future<std::vector<Future<T>>> collect_all(std::vector<Future<T>> futures) {
  std::vector<std::shared_ptr<detail::Task>> tasks;
  for (const Future<T>& future : futures) tasks.insert(tasks.end(), future.tasks().begin(), future.tasks().end());
  const Future<std::vector<Future<T>>> all(std::move(tasks));
  const auto complete = [all](const std::vector<Future<T>>& done) {
    for (const Future<T>& future : done) {
      if (const std::exception_ptr error = future.exception()) return (void)all.try_set_exception(error);
    }
    all.try_set_result(done);
  };
  if (futures.empty()) complete(futures);
  struct Left {
    std::vector<Future<T>> futures;
    std::atomic<std::size_t> count;
  };
  const auto left = std::shared_ptr<Left>(new Left{futures, {futures.size()}});
  for (const Future<T>& future : futures) {
    future.add_done_callback([left, complete](const Future<T>&) {
      if (left->count.fetch_sub(1) == 1) complete(left->futures);
    });
  }
  return all;
}

}  // namespace keyway::inline v1
