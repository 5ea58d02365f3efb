// Patterns: parts of a graph that are found, and replaced by others.
#pragma once

#include <keyway/graph/graph.h>

namespace keyway::inline v1::graph {

struct Replaced {
  Graph graph;
  std::size_t count;  // how many matches were replaced
};

// The graph in which `replacement` stands wherever `pattern` stood. Both are graphs with the same arguments and as many
// results: an argument stands for any tensor, and other values of calls, numbers and sizes among them, have to be
// equal.
//
// A match is of calls that write to nothing and draw no random numbers, and its values but for the results are used
// nowhere else. Parts whose memory is written to from its first call on are left alone, and so are those that overlap
// an earlier match. The calls of the replacement are made for the sizes that are found; its results must have the dtype
// and geometry of those that they replace.
//
// Throws keyway::Error(Value) for a pattern or replacement that cannot be one, and for results that do not fit.
KEYWAY_API Replaced replace(const Graph& graph, const Graph& pattern, const Graph& replacement);

}  // namespace keyway::inline v1::graph
