// What came of a change of the registry, to be told when its lock is free again. Internal to dispatch/.
#pragma once

#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/dispatch/operator_listener.h>
#include <keyway/dispatch/registry.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace keyway::inline v1 {

struct RegistryNews {
  struct Change {
    const OperatorEntry* op;
    bool defined;
  };
  std::vector<Change> operators;
  std::vector<std::string> warnings;
};

// Held by who changes the registry, from before the change until its news is told, so that news comes in the order of
// the changes. Recursive: a listener may change the registry.
class NewsDesk {
 public:
  static NewsDesk& get();

  ForkSafeRecursiveMutex mutex{LockOrder::News};
  // Tells listeners. The change is made and stays: should memory run out now, what was not told yet is not. Requires:
  // the mutex is held, the registry's lock is not.
  void tell(const RegistryNews& news) noexcept;
  // Requires: no lock is held: who hears of warnings may wait for another thread.
  static void warn_of(const RegistryNews& news) noexcept;

 private:
  friend class OperatorListening;
  friend OperatorListening listen_to_operators(OperatorListener);
  void tell(std::uint64_t listener, const RegistryNews::Change& change);

  std::map<std::uint64_t, OperatorListener> listeners_;
  std::uint64_t next_ = 1;
};

// Changes the registry with its lock held, and tells what came of it: change(registry, news).
template <typename Change>
void change_registry(Change&& change) {
  RegistryNews news;
  {
    NewsDesk& desk = NewsDesk::get();
    const std::lock_guard order(desk.mutex);
    {
      Registry& registry = Registry::get();
      const std::lock_guard lock(registry.mutex);
      change(registry, news);
    }
    desk.tell(news);
  }
  NewsDesk::warn_of(news);
}

}  // namespace keyway::inline v1
