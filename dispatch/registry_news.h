// What came of a change of the registry, to be told when its lock is free again. Internal to dispatch/.
#pragma once

#include <keyway/dispatch/operator_listener.h>

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

  std::recursive_mutex mutex;
  // Requires: the mutex is held, the registry's lock is not.
  void tell(const RegistryNews& news);

 private:
  friend class OperatorListening;
  friend OperatorListening listen_to_operators(OperatorListener);
  void tell(std::uint64_t listener, const RegistryNews::Change& change);

  std::map<std::uint64_t, OperatorListener> listeners_;
  std::uint64_t next_ = 1;
};

}  // namespace keyway::inline v1
