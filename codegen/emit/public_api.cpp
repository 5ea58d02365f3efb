#include <keyway/codegen/base/names.h>
#include <keyway/codegen/emit/cpp_text.h>
#include <keyway/codegen/emit/cpp_types.h>
#include <keyway/codegen/emit/public_api.h>

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <utility>

namespace keyway::inline v1 {
namespace {

bool is_optional_tensor(SchemaType type) { return type.is(TypeKind::Optional) && type.element().is(TypeKind::Tensor); }

// How the argument of the public function becomes the canonical one.
std::string canonical_argument_of(Argument argument, bool options) {
  const std::string name(argument.name());
  if (options && name == "pin_memory") return "options.pinned_memory_opt()";
  if (options && is_tensor_option(name)) return fmt::format("options.{}_opt()", name);
  if (options && name == "memory_format") return "memory_format ? memory_format : options.memory_format_opt()";
  const SchemaType type = argument.type();
  if (is_optional_tensor(type)) return fmt::format("detail::OptionalTensor({})", name);
  if (type.is(TypeKind::List) && is_optional_tensor(type.element()))
    return fmt::format("detail::OptionalTensors({})", name);
  return name;
}

PublicParameter parameter_of(Argument argument) {
  return {public_type(argument.type()), std::string(argument.name()),
          argument.has_default() ? public_default(argument) : ""};
}

// The four in one. Only dtype may have a value by default.
PublicParameter options_parameter(FunctionSchema schema) {
  const Argument dtype = schema.arguments()[*schema.arguments().find("dtype")];
  const bool none = !dtype.has_default() || dtype.default_value()->kind() == DefaultKind::None;
  if (!dtype.has_default()) return {"TensorOptions", "options", ""};
  return {"TensorOptions", "options", none ? "{}" : public_default(dtype)};
}

// ATen puts the tensors of an out= overload first.
std::vector<PublicParameter> parameters_of(FunctionSchema schema, bool method) {
  const bool options = has_tensor_options(schema);
  std::vector<PublicParameter> outs, others;
  for (const Argument argument : schema.arguments()) {
    if (method && argument.name() == "self") continue;
    if (options && argument.name() == "dtype")
      others.push_back(options_parameter(schema));
    else if (argument.is_out())
      outs.push_back(parameter_of(argument));
    else if (!options || !is_tensor_option(argument.name()))
      others.push_back(parameter_of(argument));
  }
  return concatenated(std::move(outs), std::move(others));
}

std::vector<std::string> arguments_of(FunctionSchema schema, bool method) {
  const bool options = has_tensor_options(schema);
  std::vector<std::string> out;
  for (const Argument argument : schema.arguments()) {
    if (method && argument.name() == "self")
      out.emplace_back(argument.is_write() ? "mutable_self()" : "*this");
    else
      out.push_back(canonical_argument_of(argument, options));
  }
  return out;
}

// `alias` is empty for the operator's own name.
PublicFunction public_function(const Op& op, const Overload& overload, std::string_view alias, bool method) {
  const FunctionSchema schema = *overload.schema;
  const std::string_view suffix = overload.kind == OverloadKind::Inplace ? "_" : "";
  const std::string base = alias.empty() ? std::string(schema.name()) : fmt::format("{}{}", alias, suffix);
  return {&op,
          overload.kind,
          overload.schema,
          base,
          base + (overload.kind == OverloadKind::Out ? "_out" : ""),
          public_result_type(schema),
          parameters_of(schema, method),
          arguments_of(schema, method)};
}

// The aliases, behind an empty one for the operator's own name.
std::vector<std::string> names_of(const Op& op) { return concatenated({""}, op.aliases); }

// --- Defaults that would make a call ambiguous

std::size_t required_count(const PublicFunction& function) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < function.parameters.size(); ++i)
    if (function.parameters[i].default_value.empty()) count = i + 1;
  return count;
}

// The number of arguments with which a call fits both as well.
std::optional<std::size_t> ambiguous_count(const PublicFunction& a, const PublicFunction& b) {
  if (a.name != b.name) return std::nullopt;
  const std::size_t count = std::max(required_count(a), required_count(b));
  if (count > std::min(a.parameters.size(), b.parameters.size())) return std::nullopt;
  for (std::size_t i = 0; i < count; ++i)
    if (a.parameters[i].type != b.parameters[i].type) return std::nullopt;
  return count;
}

// From now on the function takes more than `count` arguments.
void require_more(PublicFunction& function, std::size_t count) {
  for (std::size_t i = 0; i <= count; ++i) function.parameters[i].default_value.clear();
}

// Of two, the one that needs fewer arguments by itself stays as it is, the later one if they need equally
// many.
void resolve(PublicFunction& a, PublicFunction& b) {
  while (const auto count = ambiguous_count(a, b)) {
    const bool a_can = a.parameters.size() > *count;
    const bool b_can = b.parameters.size() > *count;
    if (!a_can && !b_can) return;
    const bool prefer_b = a_can && (!b_can || a.parameters.size() > b.parameters.size());
    require_more(prefer_b ? a : b, *count);
  }
}

std::vector<PublicFunction> unambiguous(std::vector<PublicFunction> functions) {
  for (std::size_t i = 0; i < functions.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) resolve(functions[j], functions[i]);
  return functions;
}

// The tensors of an out= overload with several results, which it returns as a tuple of references.
std::string return_of_outs(FunctionSchema schema) {
  std::vector<std::string> outs;
  for (const Argument argument : schema.arguments())
    if (argument.is_out()) outs.emplace_back(argument.name());
  return Doc::list("return {", outs, "};").lines(2);
}

}  // namespace

bool PublicFunction::takes_options() const { return has_tensor_options(*schema); }

std::vector<PublicFunction> public_functions(const Family& family) {
  std::vector<PublicFunction> functions;
  for (const Op& op : family.ops) {
    for (const std::string& alias : names_of(op))
      for (const Overload& overload : expand_variants(op))
        if (op.variants.function || overload.kind == OverloadKind::Out)
          functions.push_back(public_function(op, overload, alias, false));
  }
  return unambiguous(std::move(functions));
}

std::vector<PublicFunction> public_methods(const Family& family) {
  std::vector<PublicFunction> methods;
  for (const Op& op : family.ops) {
    for (const std::string& alias : names_of(op)) {
      for (const Overload& overload : expand_variants(op)) {
        // An in-place overload is a method also where the functional one is a function only: fill_.
        const bool in_place = overload.kind == OverloadKind::Inplace && can_be_method(*overload.schema);
        if (in_place || (op.variants.method && overload.kind == OverloadKind::Functional))
          methods.push_back(public_function(op, overload, alias, true));
      }
    }
  }
  return unambiguous(std::move(methods));
}

std::vector<std::string> declared(const std::vector<PublicParameter>& parameters) {
  return texts_of(parameters, [](const PublicParameter& p) {
    return fmt::format("{} {}{}{}", p.type, p.name, p.default_value.empty() ? "" : " = ", p.default_value);
  });
}

std::vector<std::string> defined(const std::vector<PublicParameter>& parameters) {
  return texts_of(parameters, [](const PublicParameter& p) { return fmt::format("{} {}", p.type, p.name); });
}

std::string public_body(const PublicFunction& function) {
  const std::string identifier = cpp_identifier(*function.schema);
  const FunctionSchema schema = *function.schema;
  const ArgumentList returns = schema.returns();
  const auto arguments = concatenated({"ops::" + identifier}, function.arguments);
  const Doc call = Doc::list(fmt::format("Caller<ops::{}_sig>::call(", identifier), arguments, ")");
  const auto returned = [](const Doc& value) { return ("return " + value + ";").lines(2); };
  if (returns.empty()) return (call + ";").lines(2);
  const SchemaType type = returns[0].type();
  if (returns.size() > 1) return type.is_write() ? (call + ";").lines(2) + return_of_outs(schema) : returned(call);
  if (type.is(TypeKind::List) && type.element().is(TypeKind::Tensor))
    return returned(Doc::list("detail::tensors<Tensor>(", {call}, ")"));
  if (!type.is(TypeKind::Tensor)) return returned(call);
  if (type.is_write()) return returned(Doc::list("as_tensor<Tensor>(", {call}, ")"));
  if (function.takes_options()) return returned(Doc::list("detail::with_grad<Tensor>(", {call, "options"}, ")"));
  return returned(call);
}

std::vector<std::string> contract_lines(const Op& op, std::string_view stop) {
  std::vector<std::string> lines;
  for (const auto* contracts : {&op.contracts, &op.values})
    for (const Formula& contract : *contracts) {
      const auto* let = as<LetExpr>(contract.expr.root());
      lines.push_back(let ? fmt::format("Where {} = {}{}", let->name, to_text(*let->value), stop)
                          : fmt::format("Requires: {}", to_text(contract.expr.root())));
    }
  return lines;
}

std::string public_comment(const PublicFunction& function, std::string_view indent, bool brief) {
  const Op& op = *function.op;
  if (function.kind == OverloadKind::Inplace) return comment("In place.", indent);
  if (function.kind == OverloadKind::Out) {
    return comment(fmt::format("Into `{}`.", joined(op.out.arguments, "`, `")), indent);
  }
  if (function.base != op.schema->name()) return comment(fmt::format("The same as {}.", op.schema->name()), indent);
  std::string out = comment(op.doc, indent);
  if (brief) return out;
  for (const std::string& line : contract_lines(op, ".")) out += comment(line, indent);
  return out + comment(fmt::format("Example: {}", op.example.text.text), indent);
}

}  // namespace keyway::inline v1
