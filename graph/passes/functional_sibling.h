// The functional sibling of an operator that writes: what computes the same and writes to nothing.
#pragma once

#include <keyway/graph/graph.h>

namespace keyway::inline v1::graph {

// `add.Tensor` for `add_.Tensor` and for `add.out`; null if there is none. Its results are those that the operator
// gives without writing to an argument, and then what it writes, in the order of its arguments.
const OperatorEntry* functional_sibling(const OperatorEntry& op);

// What the sibling takes of the operator's arguments, by name; defaults for others.
Stack functional_arguments(const OperatorEntry& op, const OperatorEntry& sibling, const Stack& arguments);

}  // namespace keyway::inline v1::graph
