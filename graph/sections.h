// Sections: which steps of a plan run beside each other.
#pragma once

#include <keyway/core/base/macros.h>

#include <cstddef>
#include <vector>

namespace keyway::inline v1::graph {

// What has to be known of a step to make it at another time. Memories have numbers.
struct StepUse {
  std::vector<std::size_t> reads, writes;
  // Whether nobody sees when it is made, or that it has been made though an earlier step fails: it writes to nothing
  // that outlives a run that fails, and has no other effect.
  bool is_movable = false;
  double seconds = 0;  // that it takes
};

// A stretch of steps. Those of one part are made one after the other, parts beside each other.
struct Section {
  std::vector<std::vector<std::size_t>> parts;  // numbers of steps, each in ascending order

  bool is_parallel() const { return parts.size() > 1; }
  // Of all parts, ascending.
  std::vector<std::size_t> steps() const;
};

// An order in which every step comes after what it needs, and what needs it. A section has several parts, `most` at
// most, where that would take `least_gain` seconds less than one after the other; others are as the steps stand.
//
// A greedy search: parts take the next step that they can, the shortest part first, and end where they have gained
// most.
KEYWAY_API std::vector<Section> find_sections(const std::vector<StepUse>& steps, std::size_t most, double least_gain);

// One section with all steps, as they stand.
std::vector<Section> in_order(std::size_t steps);

}  // namespace keyway::inline v1::graph
