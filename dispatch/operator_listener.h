// Operator listeners hear of every operator that is defined or no longer defined: what a binding, a cache or a tool
// keeps in step with the registry by.
#pragma once

#include <keyway/dispatch/dispatcher.h>

#include <cstdint>
#include <functional>
#include <utility>

namespace keyway::inline v1 {

// Called on the thread that registers, after the change is in force, in the order of the changes: never two at a time.
// It may call and register operators. What it throws becomes a warning.
using OperatorListener = std::function<void(const OperatorHandle& op, bool defined)>;

// Takes a listener away when it goes.
class KEYWAY_API OperatorListening {
 public:
  OperatorListening() = default;
  explicit OperatorListening(std::uint64_t id) : id_(id) {}
  OperatorListening(OperatorListening&& other) noexcept : id_(std::exchange(other.id_, 0)) {}
  OperatorListening& operator=(OperatorListening&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~OperatorListening();

 private:
  std::uint64_t id_ = 0;
};

// The listener first hears of every operator that there is.
[[nodiscard]] KEYWAY_API OperatorListening listen_to_operators(OperatorListener listener);

}  // namespace keyway::inline v1
