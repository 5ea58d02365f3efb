// What a call does beside giving results: what passes ask of an operator.
#pragma once

#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/graph/graph.h>

#include <bit>

namespace keyway::inline v1::graph {

// Whether it draws random numbers, and so advances a generator.
KEYWAY_API bool draws_random(const OperatorEntry& op);

// Whether it changes what a tensor is and not its elements alone: its geometry in place, its memory, its history.
KEYWAY_API bool changes_tensor(const OperatorEntry& op);

// Whether a call is needed though nobody uses its results: it draws random numbers, or has no results and writes to
// nothing that a graph knows of. A write is needed if what it wrote is.
KEYWAY_API bool has_effect(const OperatorEntry& op);

// Whether a call gives the same whenever it is made with the same arguments, and does nothing else. What empty() gives
// is not the same.
KEYWAY_API bool is_pure(const OperatorEntry& op);

// The same of a call, which may take graphs: it does what their calls do.
KEYWAY_API bool draws_random(const Node& node);
KEYWAY_API bool has_effect(const Node& node);
KEYWAY_API bool is_pure(const Node& node);

inline std::size_t index(ValueId id) { return static_cast<std::size_t>(id); }

// The memory of a value, as the number of the first value in it.
inline ValueId memory_of(const Graph& graph, ValueId id) { return graph.values[static_cast<std::size_t>(id)].memory; }

// Calls visit(id) for each tensor of one argument; not for absent ones.
template <typename F>
void for_each_value_of(Argument argument, const IValue& value, F&& visit) {
  for_each_item<ValueId>(argument, value, [&](ValueId id) {
    if (id != kNoValue) visit(id);
  });
}

// Calls visit(id) for each tensor that a call writes to.
template <typename F>
void for_each_written(const Node& node, F&& visit) {
  const ArgumentList arguments = node.op->schema().arguments();
  std::uint64_t tensors = node.op->info().boxed.tensors;
  for (; tensors != 0; tensors &= tensors - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(tensors));
    if (arguments[i].is_write()) for_each_value_of(arguments[i], node.arguments[i], visit);
  }
}

// Calls visit(id) for each tensor that a call takes, and for each that it gives; not for absent ones.
template <typename F>
void for_each_argument(const Node& node, F&& visit) {
  for_each_value(node.op->schema().arguments(), node.arguments, [&](ValueId id) {
    if (id != kNoValue) visit(id);
  });
}
template <typename F>
void for_each_result(const Node& node, F&& visit) {
  for_each_value(node.op->schema().returns(), node.results, [&](ValueId id) {
    if (id != kNoValue) visit(id);
  });
}

// Calls visit(id) for each tensor that the program leaves: results, and gradients of leaves with these.
template <typename F>
void for_each_left(const Graph& graph, F&& visit) {
  for (const ValueId id : graph.outputs) {
    if (id != kNoValue) visit(id);
  }
  for (const LeafGrad& grad : graph.grads) {
    visit(grad.leaf);
    if (grad.grad != kNoValue) visit(grad.grad);
  }
}

}  // namespace keyway::inline v1::graph
