// Whether there is a CUDA device. A test that needs one is skipped without it, and says so, unless
// KEYWAY_TEST_NEEDS_CUDA is set: then its absence fails it.
#pragma once

#include <keyway/core/device/device_guard.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace keyway::inline v1::testing {

inline bool needs_device() { return std::getenv("KEYWAY_TEST_NEEDS_CUDA") != nullptr; }

inline bool has_device() {
  if (device_count(kCUDA) > 0) return true;
  if (needs_device()) (void)current_device(kCUDA);  // throws, and says why there is none
  return false;
}

// For a test to return by: if there is no device, prints the line by which ctest knows that it was skipped.
inline bool lacks_device() {
  if (has_device()) return false;
  std::puts("skipped: there is no CUDA device");
  return true;
}

// Whether memory of devices is kept for reuse, which graphs need. Sanitized builds do without, unless they are told to.
inline bool keeps_memory() {
  const char* const unwanted = std::getenv("KEYWAY_NO_CUDA_MEMORY_CACHING");
  return unwanted == nullptr || std::string_view(unwanted) != "1";
}

}  // namespace keyway::inline v1::testing
