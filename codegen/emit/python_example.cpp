#include <keyway/codegen/base/names.h>
#include <keyway/codegen/emit/python_calls.h>
#include <keyway/codegen/emit/python_types.h>

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <map>

namespace keyway::inline v1 {
namespace {

// What a tensor that is written in literals holds: any float makes it one of floats, else any bool one of bools.
enum class Elements { Ints, Bools, Floats };

Elements elements_of(const Expr& expr) {
  if (as<FloatExpr>(expr) || as<NameExpr>(expr)) return Elements::Floats;
  if (as<BoolExpr>(expr)) return Elements::Bools;
  const auto* list = as<ListExpr>(expr);
  if (list != nullptr && list->items.empty()) return Elements::Floats;
  Elements found = Elements::Ints;
  for (const ExprPtr& child : children(expr)) found = std::max(found, elements_of(*child));
  return found;
}

std::string dtype_of(Elements elements) {
  if (elements == Elements::Floats) return "keyway.float32";
  return elements == Elements::Bools ? "keyway.bool" : "keyway.int64";
}

// Literals as Python has them: as they are, but for names and for lists, which may hold tensors.
std::string literal(const Expr& expr, const std::function<std::string(const Expr&)>& leaf) {
  const auto* list = as<ListExpr>(expr);
  if (list == nullptr) return leaf(expr);
  return fmt::format("[{}]", joined(texts_of(list->items, [&](const ExprPtr& item) { return literal(*item, leaf); })));
}

std::string number(const Expr& expr) {
  if (const auto* name = as<NameExpr>(expr)) return python_constant(name->name);
  if (const auto* unary = as<UnaryExpr>(expr)) return "-" + number(*unary->operand);
  return to_text(expr);
}

std::string tensor(const Expr& expr, Elements elements);

// A call within an example: of a method where something is done in place, requires_grad_([1.0]), else of a function,
// whose lists are tensors: polar([2.0], [0.0]).
std::string inner_call(const CallExpr& call) {
  std::vector<std::string> arguments;
  for (const CallArgument& argument : call.arguments) {
    const Expr& value = *argument.value;
    const bool is_tensor = arguments.empty() || as<ListExpr>(value) != nullptr;
    arguments.push_back(is_tensor ? tensor(value, elements_of(value)) : number(value));
  }
  if (!call.function.ends_with('_')) return fmt::format("keyway.{}({})", call.function, joined(arguments));
  const std::string self = std::move(arguments.front());
  arguments.erase(arguments.begin());
  return fmt::format("{}.{}({})", self, call.function, joined(arguments));
}

// `elements`: what they are to be, which their text need not say.
std::string tensor(const Expr& expr, Elements elements) {
  if (const auto* call = as<CallExpr>(expr)) return inner_call(*call);
  const std::string dtype = elements == elements_of(expr) ? "" : ", dtype=" + dtype_of(elements);
  return fmt::format("keyway.tensor({}{})", literal(expr, number), dtype);
}
std::string tensor(const Expr& expr) { return tensor(expr, elements_of(expr)); }

bool holds_tensors(SchemaType type) {
  return type.is(TypeKind::Tensor) ||
         ((type.is(TypeKind::Optional) || type.is(TypeKind::List)) && holds_tensors(type.element()));
}

std::string argument(const Expr& expr, SchemaType type) {
  if (as<NoneExpr>(expr)) return "None";
  if (type.is(TypeKind::Optional)) return argument(expr, type.element());
  if (!holds_tensors(type)) return literal(expr, number);
  const auto* list = as<ListExpr>(expr);
  if (type.is(TypeKind::Tensor) || list == nullptr) return tensor(expr);
  const auto item_text = [&](const ExprPtr& item) { return argument(*item, type.element()); };
  return fmt::format("[{}]", joined(texts_of(list->items, item_text)));
}

const Expr& call_in(const Example& example) {
  const auto* method = as<MethodExpr>(*example.call);
  return method != nullptr ? *method->object : *example.call;
}

// What the example gives for the arguments of the entry, by their position, which is that in each overload.
std::map<std::size_t, const Expr*> given_to(const Op& op) {
  std::map<std::size_t, const Expr*> given;
  const auto& arguments = as<CallExpr>(call_in(op.example))->arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& keyword = arguments[i].keyword;
    given.emplace(keyword.empty() ? i : *op.schema->arguments().find(keyword), arguments[i].value.get());
  }
  return given;
}

// What a call in place writes to has room for the results.
Elements elements_of_self(const PythonCall& call, const Expr& self) {
  const Elements own = elements_of(self);
  const bool widens = call.kind == OverloadKind::Inplace && call.op->example.value != nullptr &&
                      elements_of(*call.op->example.value) == Elements::Floats;
  return widens ? Elements::Floats : own;
}

// Where a function is found; those that begin with an underscore stay in the extension.
std::string_view module_of(const PythonName& name) {
  const bool is_nn = name.owner == "nn";
  if (name.name.starts_with('_')) return is_nn ? "keyway._C._nn" : "keyway._C";
  return is_nn ? "keyway.nn.functional" : "keyway";
}

std::string call_text(const PythonName& name, const PythonCall& call) {
  const FunctionSchema schema = *call.schema;
  const auto given = given_to(*call.op);
  std::string self;
  std::string arguments;
  bool by_name = false;
  for (const PythonParameter& parameter : call.parameters) {
    const bool is_first = &parameter == &call.parameters.front();
    const auto found = given.find(parameter.position);
    by_name = by_name || found == given.end() || parameter.keyword_only;
    if (found == given.end()) continue;
    const Expr& value = *found->second;
    const std::string text = is_first && call.kind == OverloadKind::Inplace
                                 ? tensor(value, elements_of_self(call, value))
                                 : argument(value, schema.arguments()[parameter.position].type());
    if (is_first && name.is_method()) {
      self = text;
    } else {
      arguments += fmt::format("{}{}{}", arguments.empty() ? "" : ", ", by_name ? parameter.name + "=" : "", text);
    }
  }
  if (call.kind == OverloadKind::Out)  // that has no functional call to be shown instead
    arguments += fmt::format(", out=keyway.empty(0, dtype={})", dtype_of(elements_of(*call.op->example.value)));
  return name.is_method() ? fmt::format("{}.{}({})", self, name.name, arguments)
                          : fmt::format("{}.{}({})", module_of(name), name.name, arguments);
}

// The dtype that a call in place leaves as it is.
Elements elements_of_result(const PythonCall& call, const Expr& value) {
  if (call.kind != OverloadKind::Inplace) return elements_of(value);
  const auto given = given_to(*call.op);
  return elements_of_self(call, *given.at(call.parameters.front().position));
}

std::string check(const std::string& result, const std::string& expected) {
  return fmt::format(">>> keyway.testing.assert_close({}, {})", result, expected);
}

std::vector<std::string> checks(const PythonCall& call, const Expr& value) {
  const auto* tuple = as<TupleExpr>(value);
  const SchemaType type = call.schema->returns()[0].type();
  if (type.is(TypeKind::List)) return {check("result", argument(value, type))};
  if (tuple == nullptr) return {check("result", tensor(value, elements_of_result(call, value)))};
  // Literals do not say which dtypes several results have: int32 of pivots, complex eigenvalues.
  const auto items = texts_of(tuple->items, [](const ExprPtr& item) { return tensor(*item); });
  return {check("result", fmt::format("({}), check_dtype=False", joined(items)))};
}

}  // namespace

std::vector<std::string> python_example(const PythonName& name, const PythonCall& call) {
  const Example& example = call.op->example;
  const std::string text = call_text(name, call);
  const ArgumentList returns = call.schema->returns();
  if (returns.empty()) return {">>> " + text};
  if (!holds_tensors(returns[0].type())) return {">>> " + text, to_text(*example.value)};
  std::vector<std::string> lines{">>> result = " + text};
  if (const auto* method = as<MethodExpr>(*example.call)) {  // sizes() or strides()
    lines.push_back(fmt::format(">>> list(result.{}())", method->method == "sizes" ? "size" : "stride"));
    lines.push_back(to_text(*example.value));
    return lines;
  }
  for (std::string& line : checks(call, *example.value)) lines.push_back(std::move(line));
  return lines;
}

}  // namespace keyway::inline v1
