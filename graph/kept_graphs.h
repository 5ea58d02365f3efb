// Graphs of deferred calls that have run, kept for the next time.
#pragma once

#include <keyway/graph/graph.h>

#include <vector>

namespace keyway::inline v1::graph {

// Runs a graph of what is executed, whose inputs are arguments. The first time its calls are made one by one; from the
// second time on an equal graph runs as an Executable. The last 64 graphs are kept, for all threads. `is_known` becomes
// whether it was one. Requires: the thread's state is that of the graph's surroundings.
std::vector<Tensor> run_kept(const Graph& graph, const std::vector<Tensor>& inputs, bool& is_known);

}  // namespace keyway::inline v1::graph
