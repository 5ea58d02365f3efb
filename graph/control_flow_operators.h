// The operators of cond and while_loop as what a program may be without.
#pragma once

#include <keyway/core/base/macros.h>

namespace keyway::inline v1 {

class IValue;

namespace graph {

struct Graph;

struct ControlFlow {
  void (*register_operators)();          // and the class of their graphs, once for the process
  IValue (*as_argument)(Graph&& graph);  // a Subgraph
};

// Both are null in a program of selected operators that selects neither operator: its list of operators says so. They
// refer to much that running a program does not take.
extern KEYWAY_API const ControlFlow kControlFlow;

}  // namespace graph
}  // namespace keyway::inline v1
