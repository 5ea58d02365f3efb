// ThreadSeed: random numbers of a stretch of a thread's work that depend on a seed alone, and not on what other threads
// draw meanwhile.
#pragma once

#include <keyway/core/base/macros.h>

#include <cstdint>
#include <memory>

namespace keyway::inline v1 {

struct ThreadSeedStates;

// While it lives, the default generators of all devices have states for its thread alone, which begin with `seed`;
// manual_seed, get_state and set_state there are of these. Afterwards the thread has those of before. One may live
// within another; they end in reverse order, on the thread that they began on.
class KEYWAY_API ThreadSeed {
 public:
  explicit ThreadSeed(std::uint64_t seed);
  ~ThreadSeed();
  ThreadSeed(const ThreadSeed&) = delete;
  ThreadSeed& operator=(const ThreadSeed&) = delete;

 private:
  std::unique_ptr<ThreadSeedStates> states_;
};

}  // namespace keyway::inline v1
