// FunctionTable: the operators of all schema files and the formula helpers, by name.
#pragma once

#include <keyway/codegen/expr/signature.h>

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

class FunctionTable {
 public:
  // With the helpers that are always known.
  FunctionTable();

  // An operator that users call as a function, as a method, or both.
  void add_operator(FunctionSchema schema, bool is_function = true, bool is_method = false);
  void add_helper(std::string name);
  // All overloads of a name.
  void remove_operators(std::string_view name);

  // The overloads of an operator, by overload name; empty if there is none.
  std::span<const Signature> operators_named(std::string_view name) const;
  bool is_helper(std::string_view name) const { return helpers_.find(name) != helpers_.end(); }
  std::vector<std::string> operator_names() const;
  std::vector<std::string> helper_names() const { return {helpers_.begin(), helpers_.end()}; }

 private:
  std::map<std::string, std::vector<Signature>, std::less<>> operators_;
  std::set<std::string, std::less<>> helpers_;
};

}  // namespace keyway::inline v1
