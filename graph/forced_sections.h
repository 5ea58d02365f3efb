// ForcedSections: for tests of plans whose parts run beside each other.
#pragma once

#include <keyway/core/base/macros.h>

#include <atomic>

namespace keyway::inline v1::graph {

// While it lives, plans that are made ready run all beside each other that can be, however short it is, and do not
// learn.
class KEYWAY_API ForcedSections {
 public:
  ForcedSections() { living_.fetch_add(1); }
  ~ForcedSections() { living_.fetch_sub(1); }
  ForcedSections(const ForcedSections&) = delete;
  ForcedSections& operator=(const ForcedSections&) = delete;

  static bool are_asked_for() { return living_.load() > 0; }

 private:
  static inline constinit std::atomic<int> living_{0};
};

}  // namespace keyway::inline v1::graph
