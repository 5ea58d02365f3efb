// What came of a change of the registry, to be told when its lock is free again. Internal to dispatch/.
#pragma once

#include <keyway/dispatch/operator_listener.h>
#include <keyway/dispatch/registry.h>

#include <map>
#include <mutex>
#include <new>
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

  std::recursive_mutex mutex;
  // In a forked child: gives the mutex back that was locked before. A recursive one belongs to the thread that locked
  // it, which the child's only thread is not; so it is made anew.
  void restart() { ::new (&mutex) std::recursive_mutex; }
  // The change is made and stays: should memory run out now, what was not told yet is not. Requires: the mutex is held,
  // the registry's lock is not.
  void tell(const RegistryNews& news) noexcept;

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
  NewsDesk& desk = NewsDesk::get();
  const std::lock_guard order(desk.mutex);
  RegistryNews news;
  {
    Registry& registry = Registry::get();
    const std::lock_guard lock(registry.mutex);
    change(registry, news);
  }
  desk.tell(news);
}

}  // namespace keyway::inline v1
