// Constants: what a graph computes of its state alone is computed once.
#pragma once

#include <keyway/graph/graph.h>

namespace keyway::inline v1::graph {

// The graph in which calls that need nothing but state are made already, and their results are state. It holds as long
// as nobody else writes to its state; writes that no version tells of, as through an array of NumPy, it does not see.
// Calls stay that write, are random, or give what the program leaves, and those of state that the graph writes to.
// Throws keyway::Error(Value) for a graph of the level "program", or without its state.
KEYWAY_API Graph freeze(const Graph& graph);

}  // namespace keyway::inline v1::graph
