// Operator listeners hear of every operator that is defined or no longer defined: what a binding, a cache or a tool
// keeps in step with the registry by.
#pragma once

#include <keyway/dispatch/registry/dispatcher.h>

#include <cstdint>
#include <functional>
#include <utility>

namespace keyway::inline v1 {

// Called after the change is in force, once for each, in the order of the changes and never by two threads at a time:
// on the thread that registers before it goes on; what is registered while the listener runs, it hears of next, on the
// thread that it runs on. No lock is held: it may call and register operators, load backends and wait for other
// threads. What it throws becomes a warning.
using OperatorListener = std::function<void(const OperatorHandle& op, bool defined)>;

// Takes a listener away when it goes, after it has returned if it runs in another thread.
class KEYWAY_API OperatorListenerHandle {
 public:
  OperatorListenerHandle() = default;
  explicit OperatorListenerHandle(std::uint64_t id) : id_(id) {}
  OperatorListenerHandle(OperatorListenerHandle&& other) noexcept : id_(std::exchange(other.id_, 0)) {}
  OperatorListenerHandle& operator=(OperatorListenerHandle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~OperatorListenerHandle();

 private:
  std::uint64_t id_ = 0;
};

// The listener first hears of every operator that there is, on this thread.
[[nodiscard]] KEYWAY_API OperatorListenerHandle listen_to_operators(OperatorListener listener);

}  // namespace keyway::inline v1
