#include <keyway/codegen/base/names.h>
#include <keyway/codegen/expr/function_table.h>

#include <algorithm>
#include <utility>

namespace keyway::inline v1 {

void FunctionTable::add_operator(FunctionSchema schema, bool is_function, bool is_method) {
  Signature signature = signature_of(schema);
  signature.is_function = is_function;
  signature.is_method = is_method;
  add(operators_, std::move(signature));
}

void FunctionTable::add(Functions& functions, Signature signature) {
  auto& overloads = functions[signature.name];
  const auto next = std::ranges::lower_bound(overloads, signature.full_name, {}, &Signature::full_name);
  overloads.insert(next, std::move(signature));
}

void FunctionTable::remove(Functions& functions, std::string_view name) {
  const auto found = functions.find(name);
  if (found != functions.end()) functions.erase(found);
}

std::span<const Signature> FunctionTable::named(const Functions& functions, std::string_view name) {
  const auto found = functions.find(name);
  if (found == functions.end()) return {};
  return found->second;
}

std::vector<std::string> FunctionTable::names(const Functions& functions) {
  return texts_of(functions, [](const auto& overloads) { return overloads.first; });
}

}  // namespace keyway::inline v1
