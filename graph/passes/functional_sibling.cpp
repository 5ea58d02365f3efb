#include <keyway/core/schema/printer.h>
#include <keyway/dispatch/call/default_argument.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/graph/passes/functional_sibling.h>

#include <algorithm>

namespace keyway::inline v1::graph {
namespace {

// Without what stands in parentheses, as (a!) does.
std::string without_aliases(SchemaType type) {
  std::string text = to_string(type), plain;
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : 0;
    if (depth == 0) plain += c;
    depth -= c == ')' ? 1 : 0;
  }
  return plain;
}

// Names and types of the arguments; of an out= overload without those for its results.
std::vector<std::pair<std::string_view, std::string>> what_it_takes(const FunctionSchema& schema) {
  std::vector<std::pair<std::string_view, std::string>> takes;
  for (const Argument argument : schema.arguments()) {
    if (!argument.is_out()) takes.emplace_back(argument.name(), without_aliases(argument.type()));
  }
  return takes;
}

std::size_t written_count(const FunctionSchema& schema) {
  return static_cast<std::size_t>(
      std::ranges::count_if(schema.arguments(), [](const Argument argument) { return argument.is_write(); }));
}

// How many of the results are not an argument that the operator writes to.
std::size_t further_results(const FunctionSchema& schema) {
  return static_cast<std::size_t>(
      std::ranges::count_if(schema.returns(), [](const Argument result) { return !result.is_write(); }));
}

// The name under which its sibling stands: without the '_' of an in-place overload.
std::string sibling_name(const OperatorEntry& op) {
  std::string name(op.info().name);
  if (op.schema().is_inplace()) name.pop_back();
  return name;
}

bool is_sibling(const FunctionSchema& schema, const FunctionSchema& candidate) {
  return !candidate.is_mutable() && !candidate.is_alias() &&
         candidate.returns().size() == further_results(schema) + written_count(schema) &&
         what_it_takes(candidate) == what_it_takes(schema);
}

const OperatorEntry* entry_of(std::string_view name) {
  const std::optional<OperatorHandle> found = Dispatcher::singleton().find_op(name);
  return found ? &found->entry() : nullptr;
}

}  // namespace

const OperatorEntry* functional_sibling(const OperatorEntry& op) {
  const std::string name = sibling_name(op);
  if (op.info().name == "keyway::zero_") return entry_of("keyway::zeros_like");
  const std::string overload = op.info().overload.empty() ? "" : "." + std::string(op.info().overload);
  // Mostly of the same overload, or of the one without a name.
  for (const std::string& likely : {name + overload, name, name + "_functional"}) {
    const OperatorEntry* const entry = entry_of(likely);
    if (entry != nullptr && is_sibling(op.schema(), entry->schema())) return entry;
  }
  for (const OperatorHandle& other : Dispatcher::singleton().ops()) {
    if (other.entry().info().name == name && is_sibling(op.schema(), other.schema())) return &other.entry();
  }
  return nullptr;
}

Stack functional_arguments(const OperatorEntry& op, const OperatorEntry& sibling, const Stack& arguments) {
  const ArgumentList own = op.schema().arguments();
  Stack taken;
  for (const Argument argument : sibling.schema().arguments()) {
    const std::optional<std::size_t> at = own.find(argument.name());
    taken.push_back(at ? arguments[*at] : default_argument(argument));
  }
  return taken;
}

}  // namespace keyway::inline v1::graph
