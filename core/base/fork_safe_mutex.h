// ForkSafe<Mutex>: a mutex of the process that a forked child finds free, and what it guards whole.
#pragma once

#include <keyway/core/base/macros.h>

#include <atomic>
#include <mutex>
#include <new>

namespace keyway::inline v1 {

// A thread that holds one of these mutexes takes only those further down. Around a fork all of them are taken in this
// order.
enum class LockOrder : unsigned char {
  Backends,       // loading the library of a device type
  Plugins,        // which plug-ins are loaded
  Profiler,       // whether the Profiler key has its fallback
  Registry,       // operators and their kernels
  Notifications,  // who hears of changes to the registry, and of which
  Observers,      // who observes calls
  Plans,          // graphs that are ready to run, and who runs them
  Graph,          // the history of views
  Nodes,          // threads that wait for nodes
  Primitives,     // the code that oneDNN has made
  Lapack,         // calls of a LAPACK that takes one at a time
  ThreadPool,     // making the pool of threads
  Devices,        // device types and their guards
  Generators,     // the states of random generators
  Sharing,        // bytes that storages begin to share
  HostMemory,     // blocks of host memory that are kept
  Classes,        // classes whose objects operators take
  Notes,          // what profiles, recorders and fallbacks have noted
  Warnings,       // who hears of warnings
  Libraries,      // what libraries hold of settings, and what is held of them
};

namespace detail {

// What is done to a mutex around a fork.
struct AtFork {
  LockOrder order;
  void (*lock)(void* mutex);
  void (*unlock)(void* mutex);
  void (*renew)(void* mutex);
  void (*in_child)();  // null: nothing more
  void* mutex;
  AtFork* next = nullptr;
};
// From now on, if `known` is not set. Requires: the entry stays for good.
KEYWAY_API void take_around_forks(AtFork& entry, std::atomic<bool>& known) noexcept;

}  // namespace detail

// What std::lock_guard needs. Constant-initialised, and never destroyed: it is known to all forks from its first lock()
// on. A child gets it made anew, since a recursive mutex belongs to the thread that locked it, which the child's is
// not.
template <typename Mutex>
class ForkSafe {
 public:
  // in_child: called in the child of a fork, while all mutexes are taken, for what the mutex guards.
  constexpr explicit ForkSafe(LockOrder order, void (*in_child)() = nullptr)
      : at_fork_{order,
                 [](void* mutex) { static_cast<Mutex*>(mutex)->lock(); },
                 [](void* mutex) { static_cast<Mutex*>(mutex)->unlock(); },
                 [](void* mutex) { ::new (mutex) Mutex; },
                 in_child,
                 &mutex_} {}
  ForkSafe(const ForkSafe&) = delete;
  ForkSafe& operator=(const ForkSafe&) = delete;

  void lock() {
    if (!known_.load(std::memory_order_acquire)) [[unlikely]]
      detail::take_around_forks(at_fork_, known_);
    mutex_.lock();
  }
  void unlock() { mutex_.unlock(); }

 private:
  Mutex mutex_;
  std::atomic<bool> known_{false};
  detail::AtFork at_fork_;
};

using ForkSafeMutex = ForkSafe<std::mutex>;
using ForkSafeRecursiveMutex = ForkSafe<std::recursive_mutex>;

}  // namespace keyway::inline v1
