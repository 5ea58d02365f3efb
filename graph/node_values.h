// The values of a graph by their numbers, and walks over those that a call takes, writes to and gives. What is absent,
// kNoValue, is left out of the walks.
#pragma once

#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/graph/graph.h>

#include <bit>

namespace keyway::inline v1::graph {

inline std::size_t index(ValueId id) { return static_cast<std::size_t>(id); }

inline const TensorInfo& info_of(const Graph& graph, ValueId id) { return graph.values[index(id)].info; }

// The memory of a value, as the number of the first value in it.
inline ValueId memory_of(const Graph& graph, ValueId id) { return graph.values[index(id)].memory; }

// Calls visit(id) for each tensor of one argument.
template <typename F>
void for_each_value_of(Argument argument, const IValue& value, F&& visit) {
  for_each_item<ValueId>(argument, value, [&](ValueId id) {
    if (id != kNoValue) visit(id);
  });
}

// Calls visit(id) for each tensor that a call takes.
template <typename F>
void for_each_argument(const Node& node, F&& visit) {
  for_each_value(node.op->schema().arguments(), node.arguments, [&](ValueId id) {
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

// Calls visit(id) for each tensor that a call gives.
template <typename F>
void for_each_result(const Node& node, F&& visit) {
  for_each_value(node.op->schema().returns(), node.results, [&](ValueId id) {
    if (id != kNoValue) visit(id);
  });
}

// Calls visit(id) for each tensor that the program leaves behind: results, and leaves with their new gradients.
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
