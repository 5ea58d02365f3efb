// Common subexpressions: calls that give what an earlier call has given.
#pragma once

#include <keyway/graph/graph.h>

namespace keyway::inline v1::graph {

// The graph in which equal calls are one: of the same operator with the same arguments, that write to nothing and draw
// no random numbers, and between which nothing has written to their arguments. Results that a program leaves as
// different tensors, or in memory of their own, stay so, and so does memory that is written to. At Level::Program
// gradients may add up in another order.
KEYWAY_API Graph eliminate_common_subexpressions(const Graph& graph);

}  // namespace keyway::inline v1::graph
