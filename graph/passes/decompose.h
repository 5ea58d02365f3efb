// Decompositions: calls are replaced by calls of simpler operators that compute the same.
//
//   graph::Decompositions decompositions = graph::default_decompositions();
//   decompositions.set("silu", [](const Tensor& self) { return self * self.sigmoid(); });
//   const graph::Graph core = graph::decompose(program, decompositions);
#pragma once

#include <keyway/dispatch/call/user_kernel.h>
#include <keyway/graph/graph.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1::graph {

// For some operators a function that computes what each gives by calls of others.
class KEYWAY_API Decompositions {
 public:
  // Of the operator "add.Tensor", or "my::op". The function takes the operator's arguments and gives its results, as a
  // kernel does (dispatch/call/user_kernel.h). It takes the place of one that is there. Throws
  // keyway::Error for a name that no operator has, a function of other types, and an operator that writes to its
  // arguments or gives numbers. One that throws CallDeclined leaves a call as it is.
  template <typename F>
  void set(std::string_view op, F function) {
    set_kernel(op, make_kernel(std::move(function)));
  }
  void set_kernel(std::string_view op, AnyKernel kernel);
  // From now on calls of the operator stay. Whether it had one.
  bool erase(std::string_view op);
  // Null if the operator has none.
  const AnyKernel* find(const OperatorEntry& op) const;
  // Full names of the operators: "keyway::silu".
  std::vector<std::string> operators() const;

 private:
  std::map<std::string, AnyKernel, std::less<>> kernels_;
};

// Those of operators outside the Core ATen set, the operators that PyTorch's exported programs consist of (the tag
// "core"): of Keyway's operators that have one, and of all composites, those of other libraries among them, which are
// functions of other operators already.
KEYWAY_API Decompositions default_decompositions();

// Makes a call by its decomposition: the arguments on the stack become the results. Throws what the operator does for
// arguments of such dtypes and sizes.
KEYWAY_API void call_decomposition(const Decompositions& decompositions, const OperatorEntry& op, Stack& stack);

// The graph in which each call of an operator with a decomposition is replaced by what that calls, again and again,
// until none is left, without dead code; in graphs that calls take, too. Calls that write stay: functionalize() before.
// Dtypes, sizes, strides and shared memory are as before; a call whose result lies within larger memory stays for that.
// Last bits of elements may differ, and gradients where an operator has no derivative. A decomposition is called with
// tensors without elements (Meta) of the sizes in the graph.
//
// Throws keyway::Error(Value) for a decomposition that gives another dtype, other sizes or a copy in the place of a
// view, takes numbers out of tensors, calls as_strided for an argument, or ends in itself, and what it throws.
KEYWAY_API Graph decompose(const Graph& graph, const Decompositions& decompositions);

}  // namespace keyway::inline v1::graph
