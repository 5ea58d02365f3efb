// Dead code: calls that nothing depends on.
#pragma once

#include <keyway/graph/graph.h>

namespace keyway::inline v1::graph {

// The graph without calls whose results nobody uses. A call that writes stays if its memory is that of an argument, of
// state, of a result or of a gradient that a leaf keeps, or if a call behind it takes a tensor in that memory. Random
// calls stay, since they advance a generator, and so do calls without results. Inputs stay.
KEYWAY_API Graph eliminate_dead_code(const Graph& graph);

}  // namespace keyway::inline v1::graph
