// Whether there is a CUDA device. Tests that need one pass without it, unless KEYWAY_TEST_NEEDS_CUDA is set: then its
// absence fails them.
#pragma once

#include <keyway/core/device_guard.h>

#include <cstdlib>

namespace keyway::inline v1::testing {

inline bool needs_device() { return std::getenv("KEYWAY_TEST_NEEDS_CUDA") != nullptr; }

inline bool has_device() {
  if (device_count(kCUDA) > 0) return true;
  if (needs_device()) (void)current_device(kCUDA);  // throws, and says why there is none
  return false;
}

}  // namespace keyway::inline v1::testing
