#include <keyway/codegen/expr/formula_helpers.h>
#include <keyway/codegen/expr/function_table.h>

#include <algorithm>
#include <utility>

namespace keyway::inline v1 {

FunctionTable::FunctionTable() {
  for (std::string& name : known_helpers()) add_helper(std::move(name));
}

void FunctionTable::add_operator(FunctionSchema schema, bool is_function, bool is_method) {
  Signature signature = signature_of(schema);
  signature.is_function = is_function;
  signature.is_method = is_method;
  auto& overloads = operators_[signature.name];
  const auto place = std::ranges::lower_bound(overloads, signature.full_name, {}, &Signature::full_name);
  overloads.insert(place, std::move(signature));
}

void FunctionTable::add_helper(std::string name) { helpers_.insert(std::move(name)); }

void FunctionTable::remove_operators(std::string_view name) {
  const auto found = operators_.find(name);
  if (found != operators_.end()) operators_.erase(found);
}

std::span<const Signature> FunctionTable::operators_named(std::string_view name) const {
  const auto found = operators_.find(name);
  if (found == operators_.end()) return {};
  return found->second;
}

std::vector<std::string> FunctionTable::operator_names() const {
  std::vector<std::string> names;
  for (const auto& [name, overloads] : operators_) names.push_back(name);
  return names;
}

}  // namespace keyway::inline v1
