// The text of a kernel that makes several pointwise calls. Internal to backends/cuda/graph.
#pragma once

#include <keyway/backends/cuda/graph/pointwise_call.h>

#include <string>

namespace keyway::inline v1::cuda {

// Its kernel is `extern "C" __global__ void keyway_fused(FusedArguments)`, whose operands are those that the group
// reads and then those that it writes, and whose numbers are those of its calls, in order. A number is no part of the
// text: groups that differ in numbers alone share a kernel.
std::string kernel_text(const graph::Graph& graph, const PointwiseGroup& group);

}  // namespace keyway::inline v1::cuda
