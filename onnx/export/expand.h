// The calls of a program as calls that have nodes of ONNX.
#pragma once

#include <keyway/graph/graph.h>

namespace keyway::inline v1::onnx::exporter {

// Whether all calls have nodes, and none writes.
bool is_exportable(const graph::Graph& graph);

// The same graph without writes, in which a call that has no nodes is replaced by those that it makes below autograd.
// Requires: what the values are is known (graph::infer_values). Throws keyway::Error as source_of().
graph::Graph expanded(graph::Graph graph);

}  // namespace keyway::inline v1::onnx::exporter
