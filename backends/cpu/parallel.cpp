// The pool. A caller puts a Job, which lives on its stack, into the list of the pool; whoever holds the mutex
// may take part in a job of the list. Chunks are claimed by an atomic counter. When none is left the caller
// takes its job off the list and waits for those who still work on a chunk: then nobody can see the job any
// more. Threads that work on jobs, callers among them, are to be no more than the pool has: a worker does not join, and
// leaves between two chunks, where callers keep that many busy.
#include <keyway/backends/cpu/parallel.h>
#include <keyway/backends/cpu/thread_at_work.h>
#include <keyway/core/base/error.h>
#include <keyway/core/base/fork_safe_mutex.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <limits>
#include <mutex>
#include <sched.h>
#include <system_error>
#include <thread>
#include <vector>

namespace keyway::inline v1 {

namespace {

constexpr int kMaxThreads = 1024;
// More chunks than threads, so that a thread that comes late or is taken away by the system holds nobody up.
constexpr std::int64_t kChunksPerThread = 4;

constinit thread_local bool in_region = false;

struct Job {
  detail::RangeFunction run;
  const void* f;
  std::int64_t begin;
  std::int64_t end;
  std::int64_t chunk;   // elements
  std::int64_t chunks;  // how many
  std::atomic<std::int64_t> next{0};

  // Below: changed with the pool's mutex held.
  std::atomic<int> helpers{0};
  std::int64_t failed_chunk = std::numeric_limits<std::int64_t>::max();
  std::exception_ptr error{};
  Job* later = nullptr;

  bool exhausted() const { return next.load(std::memory_order_relaxed) >= chunks; }
};

// Chunks are claimed in order and a claimed one is always run, so all chunks below one that threw are run
// too, and the lowest one that throws is the same every time. Stops before a chunk when it is `enough`.
template <typename Enough>
void work_on(Job& job, std::mutex& mutex, Enough enough) {
  in_region = true;
  while (!enough()) {
    const std::int64_t i = job.next.fetch_add(1, std::memory_order_relaxed);
    if (i >= job.chunks) break;
    const std::int64_t b = job.begin + i * job.chunk;
    try {
      job.run(job.f, b, std::min(b + job.chunk, job.end));
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (i < job.failed_chunk) {
        job.failed_chunk = i;
        job.error = std::current_exception();
      }
      job.next.store(job.chunks, std::memory_order_relaxed);
    }
  }
  in_region = false;
}

// Waking a thread takes longer than most jobs, so a thread looks on for a moment before it sleeps.
template <typename Condition>
void spin_until(Condition condition) {
  constexpr auto kPatience = std::chrono::microseconds(20);
  const auto begin = std::chrono::steady_clock::now();
  while (!condition()) {
#if defined(__x86_64__)
    for (int i = 0; i < 8; ++i) __builtin_ia32_pause();
#endif
    if (std::chrono::steady_clock::now() - begin > kPatience) return;
  }
}

class Pool;
// That counts this thread as one at work, though it may be in no loop.
constinit thread_local Pool* counting_pool = nullptr;

class Pool {
 public:
  explicit Pool(int threads) : size_(threads) {}

  int size() const { return size_.load(std::memory_order_relaxed); }

  void run(Job& job) {
    const int own = counting_pool == this ? 0 : 1;
    std::int64_t room = 0;
    {
      const std::lock_guard lock(mutex_);
      start_workers();
      job.later = jobs_;
      jobs_ = &job;
      room = size() - own - busy_.fetch_add(own, std::memory_order_relaxed);
      news_.fetch_add(1, std::memory_order_relaxed);
    }
    wake(std::min(job.chunks - 1, room));
    work_on(job, mutex_, [] { return false; });
    const auto alone = [&] { return job.helpers.load(std::memory_order_relaxed) == 0; };
    {
      const std::lock_guard lock(mutex_);
      remove(job);
      leave(own);
    }
    spin_until(alone);
    std::unique_lock lock(mutex_);
    idle_.wait(lock, alone);
  }

  void begin_work() {
    const std::lock_guard lock(mutex_);
    busy_.fetch_add(1, std::memory_order_relaxed);
  }
  void end_work() {
    const std::lock_guard lock(mutex_);
    leave(1);
  }

  // Sends the workers home and waits for them; the next job starts others.
  void resize(int threads) {
    const std::lock_guard one_at_a_time(resize_mutex_);
    std::vector<std::thread> leaving;
    {
      const std::lock_guard lock(mutex_);
      size_.store(threads, std::memory_order_relaxed);
      ++generation_;
      news_.fetch_add(1, std::memory_order_relaxed);
      leaving.swap(workers_);
    }
    work_.notify_all();
    for (std::thread& worker : leaving) worker.join();
  }

 private:
  void wake(std::int64_t wanted) {
    if (wanted >= size() - 1) {
      work_.notify_all();
    } else {
      for (; wanted > 0; --wanted) work_.notify_one();
    }
  }

  // Requires: mutex_ is held.
  void leave(int threads) {
    busy_.fetch_sub(threads, std::memory_order_relaxed);
    if (threads != 0 && jobs_ != nullptr) work_.notify_one();  // for whom there was no room
  }
  // Requires: mutex_ is held.
  void start_workers() {
    const auto wanted = static_cast<std::size_t>(size() - 1);
    try {
      while (workers_.size() < wanted) workers_.emplace_back([this, g = generation_] { serve(g); });
    } catch (const std::system_error&) {
      // The system has no more threads: those that run, at least the callers, do the work.
    }
  }

  void serve(unsigned generation) {
    std::unique_lock lock(mutex_);
    for (;;) {
      Job* job = nullptr;
      const auto called = [&] {
        if (generation != generation_) return true;
        job = has_room() ? open_job() : nullptr;
        return job != nullptr;
      };
      if (!called()) {
        const unsigned seen = news_.load(std::memory_order_relaxed);
        lock.unlock();
        spin_until([&] { return news_.load(std::memory_order_relaxed) != seen; });
        lock.lock();
        work_.wait(lock, called);
      }
      if (generation != generation_) return;
      job->helpers.fetch_add(1, std::memory_order_relaxed);
      busy_.fetch_add(1, std::memory_order_relaxed);
      lock.unlock();
      work_on(*job, mutex_, [&] { return busy_.load(std::memory_order_relaxed) > size(); });
      lock.lock();
      busy_.fetch_sub(1, std::memory_order_relaxed);
      if (job->helpers.fetch_sub(1, std::memory_order_relaxed) == 1) idle_.notify_all();
    }
  }

  bool has_room() const { return busy_.load(std::memory_order_relaxed) < size(); }
  // Requires: mutex_ is held.
  Job* open_job() const {
    Job* job = jobs_;
    while (job != nullptr && job->exhausted()) job = job->later;
    return job;
  }
  void remove(const Job& job) {
    Job** link = &jobs_;
    while (*link != &job) link = &(*link)->later;
    *link = job.later;
  }

  std::mutex resize_mutex_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable idle_;
  Job* jobs_ = nullptr;
  std::atomic<int> busy_{0};       // threads at work on jobs, or between them; changes with mutex_ held
  std::atomic<unsigned> news_{0};  // changes with each job: what workers look at for a while before they sleep
  std::vector<std::thread> workers_;
  unsigned generation_ = 0;
  std::atomic<int> size_;
};

// Never destroyed: threads may still call operators while the process ends. Null until the first use, and
// again in a forked child, where the old pool's threads do not exist and its locks may be held for ever.
constinit std::atomic<Pool*> current_pool{nullptr};
// What a child has inherited and cannot use, kept so that leak checkers see it.
constinit Pool* inherited_pool = nullptr;

int processors() {
  cpu_set_t set;
  const int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return std::clamp(n, 1, kMaxThreads);
}

int default_threads() {
  const char* text = std::getenv("KEYWAY_NUM_THREADS");
  if (text == nullptr || *text == '\0') return processors();
  char* end = nullptr;
  const long n = std::strtol(text, &end, 10);
  KEYWAY_CHECK(*end == '\0' && n >= 1 && n <= kMaxThreads,
               "the variable KEYWAY_NUM_THREADS is '{}', but must be a number from 1 to {}", text, kMaxThreads);
  return static_cast<int>(n);
}

// At the end of the process, and where the library is unloaded: no thread may run its code any longer.
void send_workers_home() {
  Pool* pool = current_pool.load(std::memory_order_acquire);
  if (pool != nullptr && !in_region) pool->resize(1);
}

void forget_pool_in_child() {
  inherited_pool = current_pool.exchange(nullptr, std::memory_order_relaxed);
  in_region = false;
  counting_pool = nullptr;
}

Pool& make_pool() {
  static constinit ForkSafeMutex mutex(LockOrder::ThreadPool, forget_pool_in_child);
  static const bool hooked = std::atexit(send_workers_home) == 0;
  (void)hooked;
  const std::lock_guard lock(mutex);
  Pool* pool = current_pool.load(std::memory_order_relaxed);
  if (pool == nullptr) {
    pool = new Pool(inherited_pool != nullptr ? inherited_pool->size() : default_threads());
    current_pool.store(pool, std::memory_order_release);
  }
  return *pool;
}

Pool& the_pool() {
  Pool* pool = current_pool.load(std::memory_order_acquire);
  return pool != nullptr ? *pool : make_pool();
}

}  // namespace

int get_num_threads() { return the_pool().size(); }

void set_num_threads(int n) {
  KEYWAY_CHECK(n >= 1 && n <= kMaxThreads, "set_num_threads: the number of threads is {}, but must be from 1 to {}", n,
               kMaxThreads);
  KEYWAY_CHECK(!in_region, "set_num_threads cannot be called from within a parallel_for");
  the_pool().resize(n);
}

bool in_parallel_region() { return in_region; }

ThreadAtWork::ThreadAtWork() : pool_(nullptr) {
  if (counting_pool != nullptr) return;
  Pool& pool = the_pool();
  pool.begin_work();
  pool_ = counting_pool = &pool;
}

// A forked child has a pool of its own, which does not count this thread.
ThreadAtWork::~ThreadAtWork() {
  if (pool_ == nullptr || pool_ != counting_pool) return;
  counting_pool->end_work();
  counting_pool = nullptr;
}

namespace detail {

void parallel_for_chunks(std::int64_t begin, std::int64_t end, std::int64_t grain, RangeFunction run, const void* f) {
  Pool* pool = in_region ? nullptr : &the_pool();
  if (pool == nullptr || pool->size() == 1) {
    run(f, begin, end);
    return;
  }
  const std::int64_t n = end - begin;
  const std::int64_t most = pool->size() * kChunksPerThread;
  // Cuts at multiples of the grain keep what is aligned at the begin aligned everywhere.
  const std::int64_t chunk = ((n - 1) / most / grain + 1) * grain;
  Job job{.run = run, .f = f, .begin = begin, .end = end, .chunk = chunk, .chunks = (n - 1) / chunk + 1};
  pool->run(job);
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace detail

}  // namespace keyway::inline v1
