// The allocator of host memory. It stands in core, not in a backend: every floor makes host tensors.
#pragma once

#include <keyway/core/device/allocator.h>

#include <cstddef>
#include <cstdint>

namespace keyway::inline v1 {

struct HostMemoryStats {
  std::size_t allocated = 0;  // bytes in use, of blocks above kMaxInlineBytes
  std::size_t cached = 0;     // bytes kept for reuse
  std::size_t peak = 0;       // highest `allocated` since the start or the last reset
  std::uint64_t requests = 0;
  std::uint64_t cache_hits = 0;
  std::size_t limit = 0;  // requests that would exceed it are refused
};

KEYWAY_API Allocator& host_allocator();
KEYWAY_API HostMemoryStats host_memory_stats();
KEYWAY_API void reset_peak_host_memory_stats();
// Gives the cached blocks back to the system.
KEYWAY_API void empty_host_cache();
// Refuses requests beyond `bytes` in use; by default, and for 0, the memory of the machine or of its cgroup, since
// overcommit would turn a too large tensor into a kill. Returns the limit before.
KEYWAY_API std::size_t set_host_memory_limit(std::size_t bytes);

}  // namespace keyway::inline v1
