// Functionalization: a graph without changes in place.
#pragma once

#include <keyway/graph/graph.h>

namespace keyway::inline v1::graph {

// The graph in which no call writes, but for one `copy_` at the end to each input that the program changes. Each write
// is a call of the operator that computes the same without writing; what it gives takes the place of what lay in that
// memory, and views of it are made anew. A write through a view is a scatter into what it is a view of. Results and
// inputs share memory as they did, and have the same strides.
//
// Throws keyway::Error(Value) for a graph of a program as it is written; keyway::Error(NotImplemented), which names the
// operator, for what writes without such a sibling, and for writes to memory in which tensors of several dtypes lie.
KEYWAY_API Graph functionalize(const Graph& graph);

}  // namespace keyway::inline v1::graph
