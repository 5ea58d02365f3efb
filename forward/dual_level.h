// Levels of forward mode: each is one derivative that is taken; an inner one is taken within the outer ones.
#pragma once

#include <keyway/core/base/macros.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace keyway::inline v1::forward {

// What a DualLevel shares with its dual tensors, so that they may outlive it and be used in other threads.
class DualLevelState {
 public:
  explicit DualLevelState(std::uint64_t id) : id_(id) {}
  // No other level of the process has it, and inner ones have greater ones.
  std::uint64_t id() const { return id_; }
  bool has_ended() const { return ended_.load(std::memory_order_acquire); }
  void end() { ended_.store(true, std::memory_order_release); }

 private:
  std::uint64_t id_;
  std::atomic<bool> ended_{false};
};
using LevelPtr = std::shared_ptr<const DualLevelState>;
class ViewTracker;

}  // namespace keyway::inline v1::forward

namespace keyway::inline v1 {

// While it lives, tensors may have tangents at it (forward/dual.h). Levels end in the order opposite to that of their
// making, and in the thread that made them; then tangents are gone, and tensors go on as plain ones.
class KEYWAY_API DualLevel {
 public:
  DualLevel();
  ~DualLevel();
  DualLevel(const DualLevel&) = delete;
  DualLevel& operator=(const DualLevel&) = delete;

  std::uint64_t id() const { return state_->id(); }
  forward::LevelPtr shared() const { return state_; }
  const DualLevel* outer() const { return outer_; }

  // The innermost level of the calling thread; null if there is none.
  static const DualLevel* innermost();

 private:
  std::shared_ptr<forward::DualLevelState> state_;
  const DualLevel* outer_;
  std::unique_ptr<forward::ViewTracker> tracker_;
};

}  // namespace keyway::inline v1
