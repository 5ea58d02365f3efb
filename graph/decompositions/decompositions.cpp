#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/graph/decompositions/decompositions.h>

#include <algorithm>
#include <string_view>

namespace keyway::inline v1::graph {
namespace {

// The key for which a call without data has its kernel.
DispatchKey key_of_kernel(const OperatorEntry& op) {
  const Table& table = op.table();
  const DispatchKeySet keys = DispatchKeySet(DeviceType::Meta) | DispatchKeySet(Functionality::Dense);
  return table.info[table.find(keys).kernel].key;
}

// Whether it is a function of other operators.
bool is_composite(const OperatorEntry& op) {
  const DispatchKey key = key_of_kernel(op);
  return key == DispatchKey::CompositeImplicitAutograd ||
         (key == DispatchKey::CompositeExplicitAutograd && !op.schema().is_alias());  // views are their geometry
}

// Whether it gives tensors alone, and writes to nothing.
bool is_functional(const OperatorEntry& op) {
  const FunctionSchema& schema = op.schema();
  return !schema.is_mutable() && !schema.returns().empty() &&
         std::ranges::all_of(schema.returns(), [](const Argument result) { return is_of_tensors(result.type()); });
}

// Whether its function says what it calls: not so if that depends on elements, nor if it fills a new tensor by an
// operator that writes, for which functionalize() has this one.
bool tells_its_calls(const OperatorEntry& op) {
  constexpr std::string_view kOthers[] = {"keyway::linalg_matrix_exp", "keyway::tril_indices", "keyway::triu_indices"};
  const bool takes_generator = std::ranges::any_of(op.schema().arguments(), [](const Argument argument) {
    return argument.type().is(TypeKind::Optional) && argument.type().element().is(TypeKind::Generator);
  });
  return !takes_generator && !op.has_tag("data_dependent_shape") &&
         std::ranges::find(kOthers, op.info().name) == std::end(kOthers);
}

// The function of a composite.
void call_function(const OperatorEntry& op, const KernelBase&, DispatchKeySet keys, Stack& stack) {
  redispatch_boxed(op, (keys & DispatchKeySet::full_after(Functionality::Python)).remove(Functionality::BackendSelect),
                   stack);
}

}  // namespace

Decompositions default_decompositions() {
  Decompositions table;
  for (const OperatorHandle& handle : Dispatcher::singleton().ops()) {
    const OperatorEntry& op = handle.entry();
    if (!op.has_tag("core") && is_composite(op) && is_functional(op) && tells_its_calls(op))
      table.set_kernel(op.full_name(), make_boxed_kernel(&call_function));
  }
  decompositions::add_activations(table);
  decompositions::add_attention(table);
  decompositions::add_indexing(table);
  decompositions::add_losses(table);
  decompositions::add_normalization(table);
  decompositions::add_pointwise(table);
  decompositions::add_reductions(table);
  decompositions::add_shapes(table);
  return table;
}

}  // namespace keyway::inline v1::graph
