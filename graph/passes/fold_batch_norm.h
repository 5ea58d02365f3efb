// Batch normalization by fixed statistics becomes a part of the convolution before it.
#pragma once

#include <keyway/graph/graph.h>

namespace keyway::inline v1::graph {

// The graph in which a convolution whose result is only scaled and shifted, channel by channel, has scaled weights and
// a shifted bias. Its last bits are others. The weights are computed by calls, which freeze() makes once.
KEYWAY_API Graph fold_batch_norm(const Graph& graph);

}  // namespace keyway::inline v1::graph
