// What came of a change of the registry, to be told when its lock is free again. Internal to dispatch/.
#pragma once

#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/base/never_destroyed.h>
#include <keyway/core/base/warning.h>
#include <keyway/dispatch/registry/operator_listener.h>
#include <keyway/dispatch/registry/registry.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace keyway::inline v1 {

// A kernel of an operator that was never defined, and what it is: "CPU kernel at a.cpp:3".
struct DanglingKernel {
  std::string op, what;
};
// Of one block that is in force. Requires: the registry's lock.
std::vector<DanglingKernel> dangling_kernels_of(const Registry& registry, std::uint64_t block);
// Requires: no lock is held.
void warn_of_dangling_kernels(const std::vector<DanglingKernel>& kernels) noexcept;
// From now on: of those that are there then.
void warn_of_dangling_kernels_at_exit() noexcept;

struct RegistryNotifications {
  struct Change {
    const OperatorEntry* op;
    bool defined;
  };
  std::vector<Change> operators;
  std::vector<std::string> warnings;
  bool has_dangling = false;  // kernels came whose operator is not defined
};

// Who listens, and what each has not heard yet. A listener runs with no lock held, in one thread at a time; what is
// posted while it runs, it hears next from that thread. So nobody waits for a listener but who takes it away.
class Notifier {
 public:
  static Notifier& get();

  // Notes what each listener is to hear. Should memory run out, what was not noted yet is not heard. Requires: the
  // registry's lock, which gives notifications the order of the changes.
  void enqueue(const RegistryNotifications& notifications) noexcept;
  // Tells what is noted, but to listeners that run already. Requires: no lock is held.
  void deliver() noexcept;

  std::uint64_t add(OperatorListener listener);
  // Waits until the listener does not run, in other threads than this.
  void remove(std::uint64_t listener);

 private:
  struct Listener {
    OperatorListener call;
    std::deque<RegistryNotifications::Change> pending;
    std::thread::id thread = {};  // where it runs
  };
  friend class NeverDestroyed<Notifier>;
  Notifier() = default;
  static void restart_in_child();
  std::shared_ptr<Listener> next_pending();

  ForkSafeMutex mutex_{LockOrder::Notifications, restart_in_child};
  std::atomic<std::uint32_t> returned_{0};  // how often a listener has returned
  std::map<std::uint64_t, std::shared_ptr<Listener>> listeners_;
  std::uint64_t next_ = 1;
};

// While one lives, this thread delivers no notifications, and its warnings are queued: for those who change the
// registry with a lock held that others wait for. Declare it before the lock guard, so that it is destroyed after it.
class DeferNotificationsGuard {
 public:
  DeferNotificationsGuard() noexcept { ++depth_; }
  DeferNotificationsGuard(const DeferNotificationsGuard&) = delete;
  DeferNotificationsGuard& operator=(const DeferNotificationsGuard&) = delete;
  ~DeferNotificationsGuard() {
    if (--depth_ == 0) Notifier::get().deliver();
  }
  static bool any() noexcept { return depth_ > 0; }

 private:
  HeldWarnings warnings_;
  static thread_local int depth_;
};

// Changes the registry with its lock held, and tells what came of it: change(registry, notifications).
template <typename Change>
void change_registry(Change&& change) {
  RegistryNotifications notifications;
  {
    Registry& registry = Registry::get();
    const std::lock_guard lock(registry.mutex);
    change(registry, notifications);
    Notifier::get().enqueue(notifications);
  }
  Notifier::get().deliver();
  if (notifications.has_dangling) warn_of_dangling_kernels_at_exit();
  for (const std::string& text : notifications.warnings) try_warn(text);
}

}  // namespace keyway::inline v1
