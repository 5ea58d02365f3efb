// Weights lie in the order in which products read them.
#pragma once

#include <keyway/graph/graph.h>

namespace keyway::inline v1::graph {

// The graph in which products of several rows take a copy of a weight whose columns lie together, as those of linear
// layers do, in which its rows do: what they would make of it in each run, piece by piece. It takes memory beside the
// weight, and last bits may be others. freeze() makes the copies once; without it they are calls.
KEYWAY_API Graph order_weights(const Graph& graph);

}  // namespace keyway::inline v1::graph
