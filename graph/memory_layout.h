// Where the memory of a graph's values lies when it runs: in one block, the arena, in which memory that is needed at
// different times may lie in one place.
#pragma once

#include <keyway/graph/graph.h>

#include <cstddef>
#include <vector>

namespace keyway::inline v1::graph {

// Bytes that are needed from one node to another, both included.
struct Lifetime {
  std::size_t bytes;
  std::size_t first, last;
};

struct ArenaLayout {
  std::vector<std::size_t> offsets;  // of each lifetime; multiples of 64
  std::size_t bytes = 0;             // of the arena
  std::size_t live_bytes = 0;        // the most that is needed at one node: no layout has less
};

// The smallest of a few: each lifetime at the lowest place that no other one needs at the same time, in several orders,
// fewer of which are tried for large graphs.
KEYWAY_API ArenaLayout lay_out(const std::vector<Lifetime>& lifetimes);

// Of each value that is the first in its memory: the bytes that the values in it take, from the memory's begin on.
std::vector<std::size_t> memory_bytes(const Graph& graph);

// The inputs in whose memory a graph writes, by number, one for each memory.
std::vector<std::size_t> written_inputs(const Graph& graph);

// For each value that is the first in its memory: how much memory it is, and the nodes from the one that makes it to
// the last one that uses a value in it. Of no bytes for other values, and for memory of inputs.
std::vector<Lifetime> lifetimes_of(const Graph& graph);

}  // namespace keyway::inline v1::graph
