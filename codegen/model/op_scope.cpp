#include <keyway/codegen/base/brackets.h>
#include <keyway/codegen/expr/expr_error.h>
#include <keyway/codegen/expr/signature.h>
#include <keyway/codegen/model/op_scope.h>

#include <fmt/format.h>
#include <utility>

namespace keyway::inline v1 {
namespace {

ExprType needs_type() { return of_base(ExprBase::Bool).list(); }

void add_results(Scope& scope, FunctionSchema schema, bool as_dtypes) {
  for (std::size_t i = 0; i < schema.returns().size(); ++i) {
    ExprType type = expr_type_of(schema.returns()[i].type());
    if (as_dtypes) type = of_base(ExprBase::DType);
    for (std::string& name : result_names(schema, i)) scope.add({std::move(name), type, ExprRole::Result});
  }
}

}  // namespace

std::vector<std::string> result_names(FunctionSchema schema, std::size_t index) {
  std::vector<std::string> names;
  names.push_back(schema.returns().size() == 1 ? "result" : fmt::format("result{}", index));
  const std::string_view own = schema.returns()[index].name();
  if (!own.empty()) names.emplace_back(own);
  return names;
}

Scope argument_scope(FunctionSchema schema) {
  Scope scope;
  for (const Argument argument : schema.arguments())
    scope.add({std::string(argument.name()), expr_type_of(argument.type()), ExprRole::Argument});
  return scope;
}

Scope dtype_scope(FunctionSchema schema) {
  Scope scope;
  add_results(scope, schema, true);
  for (const Argument argument : schema.arguments()) {
    ExprType type = expr_type_of(argument.type());
    if (type.base == ExprBase::Tensor) type = of_base(ExprBase::DType);
    scope.add({std::string(argument.name()), type, ExprRole::Argument});
  }
  return scope;
}

Scope derivative_scope(FunctionSchema schema, bool joint) {
  Scope scope;
  add_results(scope, schema, false);
  for (std::size_t i = 0; i < schema.returns().size(); ++i) {
    const ExprType type = expr_type_of(schema.returns()[i].type());
    if (i == 0) scope.add({"grad", type, ExprRole::Gradient});
    for (const std::string& name : result_names(schema, i)) scope.add({"grad_" + name, type, ExprRole::Gradient});
  }
  if (joint) scope.add({"needs", needs_type(), ExprRole::Needs});
  for (const Argument argument : schema.arguments())  // last: an argument's own name is what a formula means by it
    scope.add({std::string(argument.name()), expr_type_of(argument.type()), ExprRole::Argument});
  return scope;
}

std::optional<Formula> read_formula(const LocatedText& text, ExprContext context, const Scope& scope,
                                    const FunctionTable& functions, const Report& report,
                                    const std::vector<std::string>& not_none) {
  try {
    return Formula{check_expr(parse_expr(text.text), context, scope, functions, not_none), text};
  } catch (const ExprError& error) {
    report.error(text.at(error.offset()), error.what());
    return std::nullopt;
  }
}

std::vector<ListedName> listed_names(const LocatedText& list) {
  std::vector<ListedName> names;
  for (const TextPart part : listed(list.text, {0, list.text.size()}))
    names.push_back({std::string(part.of(list.text)), list.at(part.begin)});
  return names;
}

}  // namespace keyway::inline v1
