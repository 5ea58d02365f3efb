#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/graph/effects.h>
#include <keyway/graph/subgraph.h>

#include <algorithm>

namespace keyway::inline v1::graph {

bool draws_random(const OperatorEntry& op) {
  if (op.has_tag("nondeterministic_seeded")) return true;
  return std::ranges::any_of(op.schema().arguments(), [](const Argument argument) {
    const SchemaType type = argument.type();
    return (type.is(TypeKind::Optional) ? type.element() : type).is(TypeKind::Generator);
  });
}

bool changes_tensor(const OperatorEntry& op) { return op.has_tag("inplace_view") || op.has_tag("history"); }

bool gives_unset_memory(const OperatorEntry& op) { return op.has_tag("uninitialized"); }

bool overwrites(const OperatorEntry& op) { return !op.schema().is_inplace() || op.has_tag("overwrites"); }

bool gives_tensors(const OperatorEntry& op) {
  return std::ranges::any_of(op.schema().returns(), [](const Argument result) { return is_of_tensors(result.type()); });
}

bool has_effect(const OperatorEntry& op) {
  const FunctionSchema& schema = op.schema();
  return draws_random(op) || (schema.returns().empty() && !schema.is_mutable());
}

bool is_pure(const OperatorEntry& op) {
  return !op.schema().is_mutable() && !has_effect(op) && !op.has_tag("nondeterministic");
}

namespace {

// Whether that holds of a call of the graphs that a call takes.
bool any_within(const Node& node, bool (*holds)(const Node&)) {
  return std::ranges::any_of(node.arguments, [&](const IValue& argument) {
    const Subgraph* const nested = subgraph_of(argument);
    return nested != nullptr && std::ranges::any_of(nested->graph().nodes, holds);
  });
}

}  // namespace

bool draws_random(const Node& node) {
  return draws_random(*node.op) || any_within(node, [](const Node& inner) { return draws_random(inner); });
}

bool has_effect(const Node& node) {
  return has_effect(*node.op) || any_within(node, [](const Node& inner) { return has_effect(inner); });
}

bool is_pure(const Node& node) {
  // What a graph within writes to is its own.
  const auto is_impure = [](const Node& inner) { return has_effect(inner) || inner.op->has_tag("nondeterministic"); };
  return is_pure(*node.op) && !any_within(node, is_impure);
}

}  // namespace keyway::inline v1::graph
