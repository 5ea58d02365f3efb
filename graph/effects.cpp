#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/graph/effects.h>

#include <algorithm>

namespace keyway::inline v1::graph {

bool draws_random(const OperatorEntry& op) {
  if (op.has_tag("nondeterministic_seeded")) return true;
  return std::ranges::any_of(op.schema().arguments(), [](const Argument argument) {
    const SchemaType type = argument.type();
    return (type.is(TypeKind::Optional) ? type.element() : type).is(TypeKind::Generator);
  });
}

bool changes_tensor(const OperatorEntry& op) {
  constexpr std::string_view kNames[] = {"detach_", "requires_grad_", "retain_grad", "set_", "set_data"};
  return op.has_tag("inplace_view") || std::ranges::find(kNames, op.schema().name()) != std::end(kNames);
}

bool has_effect(const OperatorEntry& op) {
  const FunctionSchema& schema = op.schema();
  return draws_random(op) || (schema.returns().empty() && !schema.is_mutable());
}

bool is_pure(const OperatorEntry& op) {
  return !op.schema().is_mutable() && !has_effect(op) && !op.has_tag("nondeterministic");
}

}  // namespace keyway::inline v1::graph
