// Levels: the vmaps that a thread is in. Each is for a batch of examples; an inner one runs within each example of the
// outer ones.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/core/keys/thread_state.h>

#include <cstdint>

namespace keyway::inline v1 {

// What a random operator draws within vmap.
enum class Randomness : std::uint8_t {
  Error,      // nothing: its call is an error
  Same,       // the same numbers for all examples
  Different,  // numbers of its own for each
};

}  // namespace keyway::inline v1

namespace keyway::inline v1::batching {

// While it lives, the thread's calls are made within it. Levels end in the order opposite to that of their making, and
// in the thread that made them.
class KEYWAY_API VmapLevel {
 public:
  // Requires: batch_size > 0.
  VmapLevel(std::int64_t batch_size, Randomness randomness);
  ~VmapLevel();
  VmapLevel(const VmapLevel&) = delete;
  VmapLevel& operator=(const VmapLevel&) = delete;

  // No other level of the process has it, and inner ones have greater ones.
  std::uint64_t id() const { return id_; }
  std::int64_t batch_size() const { return batch_size_; }
  Randomness randomness() const { return randomness_; }
  const VmapLevel* outer() const { return outer_; }

 private:
  std::uint64_t id_;
  std::int64_t batch_size_;
  Randomness randomness_;
  const VmapLevel* outer_;
};

// The innermost of the levels that calls are made within now; null if there are none.
KEYWAY_API const VmapLevel* innermost_level();
// The level of that id; null if calls are not made within it now: its vmap has ended, is another thread's, or is left
// for a while.
KEYWAY_API const VmapLevel* find_level(std::uint64_t id);

// While it lives, the thread's calls are made outside of a level and of those within it; with null, outside of all.
class KEYWAY_API OutsideLevelGuard {
 public:
  explicit OutsideLevelGuard(const VmapLevel* level);
  ~OutsideLevelGuard();
  OutsideLevelGuard(const OutsideLevelGuard&) = delete;
  OutsideLevelGuard& operator=(const OutsideLevelGuard&) = delete;

 private:
  const VmapLevel* innermost_before_;
};

}  // namespace keyway::inline v1::batching
