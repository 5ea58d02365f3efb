#include <keyway/core/base/fork_safe_mutex.h>

#include <algorithm>
#include <pthread.h>

namespace keyway::inline v1::detail {

namespace {

// All mutexes that were ever locked. A list that only grows, at its head.
constinit std::atomic<AtFork*> entries{nullptr};
constinit std::mutex growing;
constinit std::mutex one_fork_at_a_time;
constinit AtFork* taken = nullptr;  // the head of the list when the mutexes were taken for a fork

template <typename F>
void each_in_order(AtFork* first, const F& f) {
  unsigned orders = 0;
  for (const AtFork* entry = first; entry != nullptr; entry = entry->next) {
    orders = std::max(orders, static_cast<unsigned>(entry->order) + 1);
  }
  for (unsigned order = 0; order < orders; ++order) {
    for (AtFork* entry = first; entry != nullptr; entry = entry->next) {
      if (static_cast<unsigned>(entry->order) == order) f(*entry);
    }
  }
}

void before_fork() {
  one_fork_at_a_time.lock();
  {
    const std::lock_guard lock(growing);  // not for longer: who holds a mutex may lock another for the first time
    taken = entries.load(std::memory_order_relaxed);
  }
  each_in_order(taken, [](AtFork& entry) { entry.lock(entry.mutex); });
}

void in_parent() {
  each_in_order(taken, [](AtFork& entry) { entry.unlock(entry.mutex); });
  one_fork_at_a_time.unlock();
}

// A mutex that another thread locked for the first time since they were taken is made anew too.
void in_child() {
  AtFork* const first = entries.load(std::memory_order_acquire);
  each_in_order(first, [](AtFork& entry) {
    if (entry.in_child != nullptr) entry.in_child();
  });
  each_in_order(first, [](AtFork& entry) { entry.renew(entry.mutex); });
  ::new (&growing) std::mutex;
  ::new (&one_fork_at_a_time) std::mutex;
}

}  // namespace

void take_around_forks(AtFork& entry, std::atomic<bool>& known) noexcept {
  static const bool hooked = pthread_atfork(before_fork, in_parent, in_child) == 0;
  (void)hooked;  // out of memory: forks are as safe as without
  const std::lock_guard lock(growing);
  if (known.load(std::memory_order_relaxed)) return;
  entry.next = entries.load(std::memory_order_relaxed);
  entries.store(&entry, std::memory_order_release);
  known.store(true, std::memory_order_release);
}

}  // namespace keyway::inline v1::detail
