// Runs a graph, node by node.
#pragma once

#include <keyway/onnx/import/program/program.h>

#include <vector>

namespace keyway::inline v1::onnx {

// The outputs, for values of the inputs and of the graph around it, if there is one. A value is freed when no node
// needs it any more. Throws what an operator throws, with the node's name.
std::vector<Slot> run_graph(const Graph& graph, std::vector<Slot> inputs, const std::vector<Slot>* around);

}  // namespace keyway::inline v1::onnx
