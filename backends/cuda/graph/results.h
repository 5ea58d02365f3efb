// What a run gives. Internal to backends/cuda/graph.
#pragma once

#include <keyway/graph/graph.h>

#include <vector>

namespace keyway::inline v1::cuda {

// The outputs of a run with these inputs, of which `captured` are those of the capture, filled by a replay: the inputs
// themselves, tensors in their memory, and copies in new memory. Outputs that share memory share the copy of all of it.
std::vector<Tensor> results_of(const graph::Graph& graph, const std::vector<Tensor>& inputs,
                               const std::vector<Tensor>& captured);

}  // namespace keyway::inline v1::cuda
