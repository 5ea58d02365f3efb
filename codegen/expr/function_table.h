// FunctionTable: the operators and the helpers of all schema files, by name.
#pragma once

#include <keyway/codegen/expr/signature.h>

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

class FunctionTable {
 public:
  // An operator that users call as a function, as a method, or both.
  void add_operator(FunctionSchema schema, bool is_function = true, bool is_method = false);
  // A `Tensor?` among the parameters may be an undefined gradient.
  void add_helper(FunctionSchema schema) { add(helpers_, signature_of(schema)); }
  // All overloads of a name.
  void remove_operators(std::string_view name) { remove(operators_, name); }
  void remove_helpers(std::string_view name) { remove(helpers_, name); }

  // The overloads of an operator, by overload name; empty if there is none.
  std::span<const Signature> operators_named(std::string_view name) const { return named(operators_, name); }
  std::span<const Signature> helpers_named(std::string_view name) const { return named(helpers_, name); }
  std::vector<std::string> operator_names() const { return names(operators_); }
  std::vector<std::string> helper_names() const { return names(helpers_); }

 private:
  using Functions = std::map<std::string, std::vector<Signature>, std::less<>>;

  static void add(Functions& functions, Signature signature);
  static void remove(Functions& functions, std::string_view name);
  static std::span<const Signature> named(const Functions& functions, std::string_view name);
  static std::vector<std::string> names(const Functions& functions);

  Functions operators_;
  Functions helpers_;
};

}  // namespace keyway::inline v1
