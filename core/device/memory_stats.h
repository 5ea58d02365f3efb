// MemoryStats: how much of a device's memory a caching allocator holds, and what for.
#pragma once

#include <keyway/core/base/macros.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace keyway::inline v1 {

// A quantity that goes up and down.
struct MemoryLevel {
  std::size_t current = 0;
  std::size_t peak = 0;

  void add(std::size_t n) {
    current += n;
    peak = std::max(peak, current);
  }
  void subtract(std::size_t n) { current -= n; }
};

// Levels are bytes.
struct MemoryStats {
  MemoryLevel requested;                           // what callers asked for and hold
  MemoryLevel allocated;                           // the blocks that they got
  MemoryLevel active;                              // those and blocks that work of other streams may still use
  MemoryLevel reserved;                            // what the device gave: all of these, and what is kept for reuse
  std::uint64_t allocations = 0, frees = 0;        // of callers
  std::uint64_t segments = 0, segments_freed = 0;  // of the device
  std::uint64_t retries = 0;                       // caches that were given up for a request
  std::uint64_t out_of_memory = 0;                 // requests that were refused

  KEYWAY_API void reset_peaks();
};

// Bytes of a device's memory, whoever uses them.
struct MemoryInfo {
  std::size_t free;
  std::size_t total;
};

// "1.50 GiB", "512 B".
KEYWAY_API std::string bytes_text(std::size_t bytes);
// A table for people.
KEYWAY_API std::string to_string(const MemoryStats& stats);

}  // namespace keyway::inline v1
