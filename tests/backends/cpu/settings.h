// Thread count and instruction-set level for the length of a scope.
#pragma once

#include <keyway/backends/cpu/parallel.h>
#include <keyway/backends/cpu/simd/level.h>

namespace keyway::inline v1::testing {

class WithThreads {
 public:
  explicit WithThreads(int n) : before_(get_num_threads()) { set_num_threads(n); }
  ~WithThreads() { set_num_threads(before_); }
  WithThreads(const WithThreads&) = delete;
  WithThreads& operator=(const WithThreads&) = delete;

 private:
  int before_;
};

class WithLevel {
 public:
  explicit WithLevel(SimdLevel level) : before_(current_level()) { set_level(level); }
  ~WithLevel() { set_level(before_); }
  WithLevel(const WithLevel&) = delete;
  WithLevel& operator=(const WithLevel&) = delete;

 private:
  SimdLevel before_;
};

// Calls f once at each level this machine has.
template <typename F>
void at_each_level(F f, SimdLevel last = best_level()) {
  for (int level = 0; level <= static_cast<int>(last); ++level) {
    const WithLevel with(static_cast<SimdLevel>(level));
    f();
  }
}
// The same for loops that at_levels made.
template <typename F>
void at_each_loop_level(F f) {
  at_each_level(f, KEYWAY_LOOPS_HAVE_LEVELS ? best_level() : SimdLevel::Baseline);
}

}  // namespace keyway::inline v1::testing
