// Calls that give new memory with something plain in it: what a plan does in their place, which has the memory already.
#pragma once

#include <keyway/graph/graph.h>

#include <optional>

namespace keyway::inline v1::graph {

// A call that writes what another one gives: copy_ for clone, fill_ for zeros.
struct PlainCall {
  const OperatorEntry* op = nullptr;  // null where nothing is written, as for empty
  Stack arguments = {};               // as those of Node; the value that the other call gives is the first
};

// That of a node whose result is the first in its memory; none for other operators.
std::optional<PlainCall> plain_call(const Node& node);

}  // namespace keyway::inline v1::graph
