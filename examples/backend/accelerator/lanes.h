// Pointwise calls of a graph as functions of blocks of elements.
#pragma once

#include <keyway/graph/graph.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace accelerator {

// out[i] = f(in[0][i], in[1][i]...) for `count` elements. An operand may be `out` itself.
using Lane = std::function<void(std::int64_t count, float* out, const float* const* in)>;

// A call that computes float32 elements, each from those at the same place of tensors of the same sizes, which lie
// densely.
struct PointwiseCall {
  Lane lane;
  std::vector<keyway::graph::ValueId> operands;
  keyway::graph::ValueId result;  // one of the operands, if the call writes in place
};

// The call of a node, if it is one; computed by the functors that the kernels have, so that the bits are theirs.
std::optional<PointwiseCall> pointwise_call(const keyway::graph::Graph& graph, const keyway::graph::Node& node);

}  // namespace accelerator
