// The functional sibling of a call that writes: a call that computes the same and writes to nothing.
#pragma once

#include <keyway/graph/graph.h>

#include <optional>

namespace keyway::inline v1::graph {

// Its results are those that the call gives without writing to an argument, and then what it writes, in the order of
// its arguments.
struct FunctionalCall {
  const OperatorEntry* op;
  Stack arguments;
};

// `add.Tensor` for `add_.Tensor` and for `add.out`; `full` with the dtype and device of what is written for `full.out`;
// `rand.generator` for `uniform_` between 0 and 1. The arguments are values of `graph`. Nothing if there is none.
std::optional<FunctionalCall> functional_call(const Graph& graph, const OperatorEntry& op, const Stack& arguments);

// The same arguments, by name, for another operator; defaults for others.
Stack arguments_of(const OperatorEntry& other, const OperatorEntry& op, const Stack& arguments);

}  // namespace keyway::inline v1::graph
