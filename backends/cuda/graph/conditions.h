// Which graphs can be replayed. Internal to backends/cuda/graph.
#pragma once

#include <keyway/graph/graph.h>

#include <cstddef>

namespace keyway::inline v1::cuda {

// Whether a call gives no more than tensors that lie in the memory of its arguments, and so launches nothing.
bool is_view(const graph::Graph& graph, const graph::Node& node);

// The calls that are no views.
std::size_t launching_calls(const graph::Graph& graph);

// The one device that the graph's calls work on. Throws CallDeclined for a graph that a replay would not do justice to:
// - a call has tensors on the CPU, or there are tensors of several devices: a replay reads no memory of the host;
// - a call takes graphs, as cond does: the host decides which of them runs;
// - a call that has no result, and writes to nothing that the graph knows of: what it does, it does on the host;
// - an operator out of tree, or one with a kernel from there: it may do something on the host that a replay would leave
// out;
// - the calls are no more than what a replay and its copies take.
Device checked_device(const graph::Graph& graph);

}  // namespace keyway::inline v1::cuda
