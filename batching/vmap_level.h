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

// From its making to its end the thread's calls are made within it. Levels end in the order opposite to that of their
// making, and in the thread that made them.
class KEYWAY_API Level {
 public:
  // Requires: batch_size > 0.
  Level(std::int64_t batch_size, Randomness randomness);
  ~Level();
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

  // No other level of the process has it, and inner ones have greater ones.
  std::uint64_t id() const { return id_; }
  std::int64_t batch_size() const { return batch_size_; }
  Randomness randomness() const { return randomness_; }
  const Level* outer() const { return outer_; }

 private:
  std::uint64_t id_;
  std::int64_t batch_size_;
  Randomness randomness_;
  const Level* outer_;
};

// Of the levels that calls are made within now; null if there are none.
KEYWAY_API const Level* innermost_level();
// Null if calls are not made within it now: its vmap has ended, is another thread's, or is left for a while.
KEYWAY_API const Level* find_level(std::uint64_t id);

// While it lives, the thread's calls are made outside of a level and of those within it; of a null one, of all.
class KEYWAY_API OutsideLevel {
 public:
  explicit OutsideLevel(const Level* level);
  ~OutsideLevel();
  OutsideLevel(const OutsideLevel&) = delete;
  OutsideLevel& operator=(const OutsideLevel&) = delete;

 private:
  const Level* innermost_before_;
};

}  // namespace keyway::inline v1::batching
