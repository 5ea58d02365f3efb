// Where the memory of values lies when steps run beside each other.
#pragma once

#include <keyway/graph/memory_layout.h>
#include <keyway/graph/sections.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace keyway::inline v1::graph {

// Of each memory, the steps that use it.
KEYWAY_API std::vector<std::vector<std::size_t>> uses_of_memories(const std::vector<StepUse>& steps,
                                                                  std::size_t memories);

// For each memory the one in whose place it lies: the first of a pair may lie in the place of the second, if the step
// that makes it is the last one to use that. Pairs are in the order of these steps.
KEYWAY_API std::vector<std::size_t> homes_of(const std::vector<std::pair<std::size_t, std::size_t>>& heirs,
                                             const std::vector<std::vector<std::size_t>>& uses,
                                             const std::vector<Section>& sections);

// Where memories of so many bytes lie: those that steps which run beside each other use lie apart. Of each memory that
// is its own home.
KEYWAY_API ArenaLayout lay_out(const std::vector<std::size_t>& bytes, const std::vector<std::size_t>& homes,
                               const std::vector<std::vector<std::size_t>>& uses, const std::vector<Section>& sections);

}  // namespace keyway::inline v1::graph
