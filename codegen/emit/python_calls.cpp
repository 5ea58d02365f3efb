#include <keyway/codegen/base/names.h>
#include <keyway/codegen/emit/doc.h>
#include <keyway/codegen/emit/public_api.h>
#include <keyway/codegen/emit/python_calls.h>
#include <keyway/codegen/expr/signature.h>
#include <keyway/core/schema/number_arguments.h>

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace keyway::inline v1 {
namespace {

// Makes a tensor from options, so that it may be told to require a gradient.
bool is_factory(FunctionSchema schema) {
  return has_tensor_options(schema) && !schema.arguments().find("non_blocking");
}

bool is_int_list(SchemaType type) {
  const SchemaType value = type.is(TypeKind::Optional) ? type.element() : type;
  if (!value.is(TypeKind::List)) return false;
  return value.element().is(TypeKind::Int) || value.element().is(TypeKind::SymInt);
}

PythonParameter parameter_of(FunctionSchema schema, std::size_t i, bool method) {
  const Argument argument = schema.arguments()[i];
  const std::string type = python_type(argument.type()) + (takes_number(schema, argument.name()) ? " | Number" : "");
  const bool is_input = !method && argument.name() == "self" && argument.type().is(TypeKind::Tensor);
  return {is_input ? "input" : std::string(argument.name()),
          type,
          expr_type_of(argument.type()),
          python_default(argument),
          argument.is_kwarg_only(),
          i};
}

std::string out_type(FunctionSchema schema) {
  std::string types = "Tensor";
  for (std::size_t i = 1; i < schema.out_count(); ++i) types += ", Tensor";
  return schema.out_count() == 1 ? types : fmt::format("tuple[{}]", types);
}

PythonCall call_of(const PublicFunction& function, bool method) {
  const FunctionSchema schema = *function.schema;
  const ArgumentList arguments = schema.arguments();
  PythonCall call{function.op, function.kind, function.schema, {}, false};
  const std::size_t self = method ? *arguments.find("self") : arguments.size();
  if (method) call.parameters.push_back(parameter_of(schema, self, method));
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (i != self && !arguments[i].is_out()) call.parameters.push_back(parameter_of(schema, i, method));
  const std::size_t first = method ? 1 : 0;
  const auto positional = std::ranges::count(call.parameters, false, &PythonParameter::keyword_only);
  call.open_list = positional == static_cast<std::ptrdiff_t>(first + 1) &&
                   is_int_list(arguments[call.parameters[first].position].type());
  if (schema.is_out())
    call.parameters.push_back({"out", out_type(schema), of_base(ExprBase::Tensor), {}, true, arguments.size()});
  if (is_factory(schema))
    call.parameters.push_back({"requires_grad", "bool", of_base(ExprBase::Bool), {"False"}, true, arguments.size()});
  return call;
}

bool same(const PythonParameter& a, const PythonParameter& b) {
  return a.name == b.name && a.type == b.type && a.value.text == b.value.text && a.keyword_only == b.keyword_only;
}

// The functional call that an out= call is, without its last parameter.
PythonCall* functional_of(const PythonCall& out, std::vector<PythonCall>& calls) {
  const auto found = std::ranges::find_if(calls, [&](const PythonCall& call) {
    return call.op == out.op && call.parameters.size() + 1 == out.parameters.size() &&
           std::equal(call.parameters.begin(), call.parameters.end(), out.parameters.begin(), same);
  });
  return found == calls.end() ? nullptr : &*found;
}

// Whether a number that fits both means the other: that takes a tensor where this takes a number.
bool yields_to(const PythonCall& call, const PythonCall& other) {
  const auto [mine, its] =
      std::mismatch(call.parameters.begin(), call.parameters.end(), other.parameters.begin(), other.parameters.end(),
                    [](const auto& a, const auto& b) { return a.type == b.type; });
  return mine != call.parameters.end() && its != other.parameters.end() && mine->what.is(ExprBase::Scalar) &&
         !mine->what.optional && its->what.is(ExprBase::Tensor);
}

void add(PythonName& name, const PublicFunction& function) {
  name.overloads.emplace_back(function.schema->full_name());
  PythonCall call = call_of(function, name.is_method());
  PythonCall* const functional = call.kind == OverloadKind::Out ? functional_of(call, name.calls) : nullptr;
  if (functional == nullptr) {
    const auto next = std::ranges::find_if(name.calls, [&](const PythonCall& c) { return yields_to(c, call); });
    name.calls.insert(next, std::move(call));
    return;
  }
  PythonParameter out = call.parameters.back();
  out.type += " | None";
  out.value = {"None"};
  functional->parameters.push_back(std::move(out));
}

enum class SignatureText { Doc, Stub };

// A parameter. One whose name Python keeps for itself can be given by position alone, or by **{"from": 0}: in a stub it
// has an underscore.
std::string parameter_text(const PythonParameter& parameter, SignatureText kind) {
  const bool is_stub = kind == SignatureText::Stub;
  const bool is_keyword = is_stub && is_python_keyword(parameter.name);
  std::string text = fmt::format("{}{}: {}", parameter.name, is_keyword ? "_" : "", parameter.type);
  const PythonDefault& value = parameter.value;
  if (!value.text.empty()) text += " = " + (is_stub && !value.is_literal ? "..." : value.text);
  return text;
}

// `head`(parameters) -> result, with the last positional parameter without brackets if `open`.
Doc signature(std::string_view head, const PythonCall& call, bool open, SignatureText kind) {
  std::vector<std::string> items;
  bool starred = false;
  const auto& parameters = call.parameters;
  std::size_t by_position = 0;  // the parameters up to the last that a stub can give by position alone
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (kind == SignatureText::Stub && !parameters[i].keyword_only && is_python_keyword(parameters[i].name))
      by_position = i + 1;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const PythonParameter& parameter = parameters[i];
    const bool is_last = i + 1 == parameters.size() || parameters[i + 1].keyword_only;
    if (open && is_last && !parameter.keyword_only) {
      items.push_back(fmt::format("*{}: int", parameter.name));
      starred = true;
      continue;
    }
    if (parameter.keyword_only && !std::exchange(starred, true)) items.emplace_back("*");
    const bool is_method = i == 0 && parameter.name == "self" && parameter.what.is(ExprBase::Tensor);
    items.push_back(is_method ? "self" : parameter_text(parameter, kind));
    if (i + 1 == by_position) items.emplace_back("/");
  }
  const std::string_view tail = kind == SignatureText::Stub ? ": ..." : "";
  return Doc::list(fmt::format("{}(", head), items, fmt::format(") -> {}{}", python_result_type(*call.schema), tail));
}

}  // namespace

std::vector<PythonName> python_names(const std::vector<Family>& families) {
  std::map<std::pair<std::string, std::string>, PythonName> names;  // by owner and name
  const auto add_to = [&](const std::string& owner, const PublicFunction& function) {
    const std::string& name = function.base;
    add(names.try_emplace({owner, name}, PythonName{owner, name, {}, {}}).first->second, function);
  };
  for (const Family& family : families) {
    for (const PublicFunction& function : public_functions(family)) add_to(function.op->python_namespace, function);
    for (const PublicFunction& method : public_methods(family)) add_to("Tensor", method);
  }
  std::vector<PythonName> sorted;
  for (auto& [key, name] : names) sorted.push_back(std::move(name));
  return sorted;
}

std::string python_signatures(const PythonName& name, const PythonCall& call) {
  const auto lines = [&](bool open) { return signature(name.name, call, open, SignatureText::Doc).lines(); };
  return lines(false) + (call.open_list ? lines(true) : "");
}

std::string python_stubs(const PythonName& name, const PythonCall& call, bool is_overload) {
  const std::size_t indent = name.is_method() ? 4 : 0;
  const std::string overload = is_overload || call.open_list ? Doc("@overload").lines(indent) : "";
  const auto lines = [&](bool open) {
    return overload + signature("def " + name.name, call, open, SignatureText::Stub).lines(indent);
  };
  return lines(false) + (call.open_list ? lines(true) : "");
}

}  // namespace keyway::inline v1
