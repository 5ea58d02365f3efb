// The pool of tasks. A thread takes the oldest task of the queue; there are as many threads at work as asked for,
// without those that wait within a task. A task that a waiting thread has run stays in the queue as an empty shell,
// until the queue has grown to twice what it was without such.
#include <keyway/backends/cpu/parallel.h>
#include <keyway/core/base/concatenate.h>
#include <keyway/core/base/error.h>
#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/base/warning.h>
#include <keyway/tasks/launch.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <list>
#include <mutex>
#include <thread>

namespace keyway::inline v1 {

namespace {

constexpr int kMaxThreads = 1024;
constexpr std::size_t kFewest = 16;  // tasks for which it is worth while to look which have begun
constexpr auto kPatience = std::chrono::milliseconds(100);
constexpr unsigned kEnded = std::numeric_limits<unsigned>::max();

constinit std::atomic<unsigned> forks{0};  // that lie behind the process

class Pool {
 public:
  explicit Pool(int wanted) : wanted_(wanted) {}

  // As set_num_interop_threads says; 0 if nobody has called it.
  int wanted() const { return wanted_.load(std::memory_order_relaxed); }
  int size() const { return wanted() != 0 ? wanted() : get_num_threads(); }
  void resize(int size) {
    wanted_.store(size, std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    news_.notify_all();  // those that are too many leave
    for (std::size_t i = 0; i < queue_.size(); ++i) start_if_needed();
  }

  void launch(const std::shared_ptr<detail::Task>& task) {
    std::list<std::thread> gone;
    Queue begun;  // let go of without the lock: what tasks hold may do anything
    bool served = false;
    {
      const std::lock_guard lock(mutex_);
      gone.swap(retired_);
      if (!ended_) {
        if (queue_.size() >= 2 * swept_ + kFewest) begun = sweep();
        queue_.push_back(task);
        start_if_needed();
        served = !threads_.empty();
        if (!served) queue_.pop_back();  // the system has no thread for it
        news_.notify_one();
      }
    }
    join(gone);
    if (!served) task->run_unless_begun();
  }

  // While a thread of the pool waits, another one may work.
  void begin_wait() {
    const std::lock_guard lock(mutex_);
    --working_;
    start_if_needed();
  }
  void end_wait() {
    const std::lock_guard lock(mutex_);
    ++working_;
  }

  void end() {
    std::unique_lock lock(mutex_);
    ended_ = true;
    news_.notify_all();
    // A task that waits for what nobody does any more is left: nothing has moved for long, then.
    while (!threads_.empty()) {
      if (left_.wait_for(lock, kPatience) == std::cv_status::timeout && working_ == 0) break;
    }
    std::list<std::thread> gone;
    gone.swap(retired_);
    lock.unlock();
    join(gone);
  }

 private:
  using Queue = std::list<std::shared_ptr<detail::Task>>;

  static void join(std::list<std::thread>& threads) {
    for (std::thread& thread : threads) thread.join();
  }

  // Requires, of all below: mutex_ is held.
  // Takes the tasks that have begun out of the queue.
  Queue sweep() {
    Queue begun;
    for (auto at = queue_.begin(); at != queue_.end();) {
      const auto next = std::next(at);
      if ((*at)->has_begun()) begun.splice(begun.end(), queue_, at);
      at = next;
    }
    swept_ = queue_.size();
    return begun;
  }

  void start_if_needed() {
    if (ended_ || queue_.size() <= static_cast<std::size_t>(idle_) || working_ >= size()) return;
    auto place = threads_.end();
    try {
      place = threads_.emplace(threads_.end());
      *place = std::thread([this, place] { serve(place); });
      ++working_;
    } catch (const std::exception&) {  // no thread, or no memory: those that are there do the work
      if (place != threads_.end()) threads_.erase(place);
    }
  }

  void serve(std::list<std::thread>::iterator self);

  std::mutex mutex_;
  std::condition_variable news_;  // a task, or an end
  std::condition_variable left_;  // a thread has
  Queue queue_;
  std::size_t swept_ = 0;  // how many tasks the last sweep left
  std::list<std::thread> threads_;
  std::list<std::thread> retired_;  // at their end, to be joined
  int working_ = 0;                 // threads that do not wait within a task
  int idle_ = 0;                    // of them: that wait for one
  bool ended_ = false;
  std::atomic<int> wanted_;
};

// Never destroyed. Null until the first use, and again in a forked child.
constinit std::atomic<Pool*> current_pool{nullptr};
// What a child has inherited and cannot use, kept so that leak checkers see it.
constinit Pool* inherited_pool = nullptr;
// That this thread works for.
constinit thread_local Pool* own_pool = nullptr;

void Pool::serve(std::list<std::thread>::iterator self) {
  own_pool = this;
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto leaves = [&] { return ended_ || working_ > size(); };
    ++idle_;
    news_.wait(lock, [&] { return leaves() || !queue_.empty(); });
    --idle_;
    if (leaves()) break;
    std::shared_ptr<detail::Task> task = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    task->run_unless_begun();
    task.reset();
    if (own_pool == nullptr) return;  // this is a child that the task has forked: the pool is that of the parent
    lock.lock();
  }
  --working_;
  retired_.splice(retired_.end(), threads_, self);
  left_.notify_all();
  if (!queue_.empty()) {  // somebody else is to have what this thread was woken for
    start_if_needed();
    news_.notify_one();
  }
}

void forget_pool_in_child() {
  inherited_pool = current_pool.exchange(nullptr, std::memory_order_relaxed);
  own_pool = nullptr;
  forks.fetch_add(1, std::memory_order_relaxed);
}

Pool& make_pool() {
  static constinit ForkSafeMutex mutex(LockOrder::ThreadPool, forget_pool_in_child);
  static const bool hooked = std::atexit(detail::end_interop_threads) == 0;
  (void)hooked;
  (void)get_num_threads();  // what is wrong with its setting is an error here, and not in a thread of the pool
  const std::lock_guard lock(mutex);
  Pool* pool = current_pool.load(std::memory_order_relaxed);
  if (pool == nullptr) {
    pool = new Pool(inherited_pool != nullptr ? inherited_pool->wanted() : 0);
    current_pool.store(pool, std::memory_order_release);
  }
  return *pool;
}

Pool& the_pool() {
  Pool* pool = current_pool.load(std::memory_order_acquire);
  return pool != nullptr ? *pool : make_pool();
}

// That this thread waits.
class Waiting {
 public:
  Waiting() : pool_(own_pool) {
    if (pool_ != nullptr) pool_->begin_wait();
  }
  ~Waiting() {
    if (pool_ != nullptr) pool_->end_wait();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  Pool* pool_;
};

}  // namespace

int get_num_interop_threads() { return the_pool().size(); }

void set_num_interop_threads(int n) {
  KEYWAY_CHECK(n >= 1 && n <= kMaxThreads,
               "set_num_interop_threads: the number of threads is {}, but must be from 1 to {}", n, kMaxThreads);
  the_pool().resize(n);
}

namespace detail {

void end_interop_threads() {
  Pool* pool = current_pool.load(std::memory_order_acquire);
  if (pool != nullptr && own_pool == nullptr) pool->end();
}

void launch_task(const std::shared_ptr<Task>& task) {
  // A graph is made of the calls of one thread (graph/capture.h).
  const DispatchKeySet keys = included_keys();
  if (keys.has(Functionality::Functionalize) || keys.has(Functionality::Tracer)) [[unlikely]] {
    task->run_unless_begun();
    return;
  }
  the_pool().launch(task);
}

Task::Task() = default;
Task::~Task() = default;

bool Task::run_unless_begun() {
  unsigned nobody = 0;
  if (!begun_.compare_exchange_strong(nobody, 1 + forks.load(std::memory_order_relaxed))) return false;
  run();
  begun_.store(kEnded, std::memory_order_release);
  return true;
}

bool Task::is_lost() const {
  const unsigned begun = begun_.load(std::memory_order_acquire);
  return begun != 0 && begun != kEnded && begun != 1 + forks.load(std::memory_order_relaxed);
}

struct FutureState::Callback {
  std::function<void()> f;
  ThreadLocalState state;
  Callback* earlier;

  void run() noexcept {
    try {
      const ThreadLocalStateGuard guard(state);
      f();
    } catch (const std::exception& error) {
      try_warn(concatenate("a callback of a future failed: ", error.what()));
    } catch (...) {
      try_warn("a callback of a future failed by what is no std::exception");
    }
  }
  // In the place of the latest one: that callbacks are called at once.
  static Callback* none_more() {
    static constinit char mark = 0;
    return reinterpret_cast<Callback*>(&mark);
  }
};

FutureState::~FutureState() {
  Callback* callback = callbacks_.load(std::memory_order_acquire);
  while (callback != nullptr && callback != Callback::none_more()) {
    const std::unique_ptr<Callback> freed(callback);
    callback = freed->earlier;
  }
}

void FutureState::wait() {
  for (const std::shared_ptr<Task>& task : tasks_) {
    if (done()) return;
    task->run_unless_begun();
  }
  if (done()) return;
  for (const std::shared_ptr<Task>& task : tasks_) {
    KEYWAY_CHECK(!task->is_lost(),
                 "Future: the task runs in a process that this one was forked from, and this one will not hear of it");
  }
  const Waiting waiting;
  for (;;) {
    const int phase = phase_.load(std::memory_order_acquire);
    if (phase == kDone) return;
    phase_.wait(phase, std::memory_order_acquire);
  }
}

void FutureState::check_value() const {
  KEYWAY_CHECK(done(), "Future: the value is asked for before there is one; wait() waits for it");
  if (error_ != nullptr) std::rethrow_exception(error_);
}

void FutureState::when_done(std::function<void()> callback) {
  std::unique_ptr<Callback> added(
      new Callback{std::move(callback), ThreadLocalState(), callbacks_.load(std::memory_order_acquire)});
  do {
    if (added->earlier == Callback::none_more()) return added->run();
  } while (!callbacks_.compare_exchange_weak(added->earlier, added.get(), std::memory_order_acq_rel,
                                             std::memory_order_acquire));
  (void)added.release();
}

bool FutureState::begin_completion() {
  int pending = kPending;
  return phase_.compare_exchange_strong(pending, kCompleting, std::memory_order_acq_rel);
}

void FutureState::check(bool by_this_call) {
  KEYWAY_CHECK(by_this_call, "Future: it is completed already, or its task has begun; that is done once");
}

void FutureState::complete(std::exception_ptr error) {
  error_ = std::move(error);
  phase_.store(kDone, std::memory_order_release);
  phase_.notify_all();
  call_back(callbacks_.exchange(Callback::none_more(), std::memory_order_acq_rel));
}

// The earliest first.
void FutureState::call_back(Callback* latest) {
  Callback* next = nullptr;
  while (latest != nullptr) {
    Callback* const earlier = latest->earlier;
    latest->earlier = next;
    next = latest;
    latest = earlier;
  }
  while (next != nullptr) {
    const std::unique_ptr<Callback> called(next);
    next = called->earlier;
    called->run();
  }
}

}  // namespace detail

}  // namespace keyway::inline v1
