#include <keyway/codegen/base/names.h>
#include <keyway/codegen/expr/signature.h>
#include <keyway/codegen/model/op_reader.h>
#include <keyway/codegen/model/op_scope.h>

#include <fmt/format.h>
#include <set>
#include <utility>

namespace keyway::inline v1 {
namespace {

using NameSet = std::set<std::string, std::less<>>;

void check_input(const OpSource& source, const ListedName& input, NameSet& seen) {
  const ArgumentList arguments = source.schema->arguments();
  if (const auto index = arguments.find(input.name)) {
    const ExprType type = expr_type_of(arguments[*index].type());
    if (type.base != ExprBase::Tensor)
      source.report.error(input.place, "argument {} is {}; only tensors are differentiated", in_quotes(input.name),
                          type);
    if (!seen.insert(input.name).second)
      source.report.error(input.place, "{} has a derivative already", in_quotes(input.name));
    return;
  }
  source.report.error(input.place, "no argument {} to differentiate{}", in_quotes(input.name),
                      did_you_mean(input.name, arguments, &Argument::name));
}

// The gradients of one input: a Tensor for a Tensor, a list for a list, None for zero.
bool is_gradient(const ExprType& type, const ExprType& input) {
  if (type.is(ExprBase::Unknown) || type.is(ExprBase::None)) return true;
  return type.base == ExprBase::Tensor && type.depth == input.depth;
}

// What is wrong with the type of a formula, or "".
std::string type_fault(const ExprType& type, const std::vector<ExprType>& inputs) {
  if (type.is(ExprBase::Unknown) || type.is(ExprBase::None)) return {};
  if (inputs.size() > 1) {
    bool fits = type.is(ExprBase::Tuple) && type.parts.size() == inputs.size();
    for (std::size_t i = 0; fits && i < inputs.size(); ++i) fits = is_gradient(type.parts[i], inputs[i]);
    return fits ? std::string()
                : fmt::format("a joint formula gives {} gradients, but this is {}", inputs.size(), to_string(type));
  }
  if (is_gradient(type, inputs.front())) return {};
  return fmt::format("the gradient of {} is {}, but this is {}", to_string(inputs.front()),
                     inputs.front().depth > 0 ? "a list of Tensors" : "a Tensor", to_string(type));
}

std::optional<Derivative> read_derivative(const OpSource& source, const JsonMember& member, NameSet& seen) {
  std::vector<std::string> names;
  std::vector<ExprType> types;
  const ArgumentList arguments = source.schema->arguments();
  for (const ListedName& input : listed_names(member.key)) {
    check_input(source, input, seen);
    names.push_back(input.name);
    const auto index = arguments.find(input.name);
    types.push_back(index ? expr_type_of(arguments[*index].type()) : ExprType());
  }
  const Scope scope = derivative_scope(*source.schema, names.size() > 1);
  auto formula = read_formula(member.value.text, ExprContext::Derivative, scope, source.functions, source.report);
  if (!formula) return std::nullopt;
  const std::string fault = type_fault(formula->expr.type(), types);
  if (!fault.empty()) {
    source.report.error(member.value.place(), fault);
    return std::nullopt;
  }
  auto saved = saved_values(formula->expr);
  return Derivative{std::move(names), std::move(*formula), std::move(saved)};
}

}  // namespace

std::vector<Derivative> read_derivatives(const OpSource& source, const Recipe& recipe) {
  std::vector<Derivative> derivatives;
  const JsonValue* value = source.entry.find("derivatives");
  if (!value) {
    if (recipe.kind != RecipeKind::Composite)
      source.report.error(source.entry.place(), "'derivatives' is missing; write {} if there are none");
    return derivatives;
  }
  NameSet seen;
  for (const JsonMember& member : value->members)
    if (auto derivative = read_derivative(source, member, seen)) derivatives.push_back(std::move(*derivative));
  return derivatives;
}

}  // namespace keyway::inline v1
