#include <keyway/codegen/base/names.h>
#include <keyway/codegen/emit/python_types.h>
#include <keyway/core/schema/named_values.h>
#include <keyway/core/schema/value_code.h>

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>

namespace keyway::inline v1 {
namespace {

std::string one_type(TypeKind kind) {
  const detail::NamedType* const type = detail::find_named_type(kind);
  return type == nullptr ? "object" : std::string(type->python);
}

PythonDefault named_default(const NamedValue& value) {
  switch (value.type) {
    case TypeKind::Int: return {fmt::format("{}", value.number)};
    case TypeKind::Device: return {fmt::format("'{}'", value.python())};
    default: return {fmt::format("keyway.{}", value.python()), false};
  }
}

// Of a type that is written as one name. Strings have the escapes of Python.
PythonDefault one_default(DefaultValue value, TypeKind type) {
  if (value.kind() == DefaultKind::Identifier) return named_default(*find_named_value(type, value.text()));
  if (value.kind() == DefaultKind::Float) {
    const bool finite = value.text().find_first_of("0123456789") != std::string_view::npos;
    return finite ? PythonDefault{std::string(value.text())}
                  : PythonDefault{fmt::format("float('{}')", value.text()), false};
  }
  const std::optional<std::int64_t> number = value.as_int();
  if (!number) return {std::string(value.text())};
  const NamedValue* const named = type == TypeKind::Int ? nullptr : find_named_value(type, *number);
  return named != nullptr ? named_default(*named) : PythonDefault{fmt::format("{}", *number)};
}

PythonDefault default_of(DefaultValue value, SchemaType type) {
  if (type.is(TypeKind::Optional)) return default_of(value, type.element());
  const bool list = type.is(TypeKind::List);
  if (value.kind() != DefaultKind::List) return one_default(value, list ? type.element().kind() : type.kind());
  PythonDefault out;
  for (const DefaultValue item : value.elements()) {
    const PythonDefault one = default_of(item, type.element());
    out.text += (out.text.empty() ? "" : ", ") + one.text;
    out.is_literal = out.is_literal && one.is_literal;
  }
  out.text = fmt::format("({}{})", out.text, value.elements().size() == 1 ? "," : "");
  return out;
}

}  // namespace

std::string python_type(SchemaType type) {
  if (type.is(TypeKind::Optional)) return python_type(type.element()) + " | None";
  if (!type.is(TypeKind::List)) return one_type(type.kind());
  const std::string element = python_type(type.element());
  const std::string list = fmt::format("Sequence[{}]", element);
  return type.list_size() > 0 ? fmt::format("{} | {}", element, list) : list;
}

std::string python_result_type(SchemaType type) {
  if (type.is(TypeKind::Optional)) return python_result_type(type.element()) + " | None";
  if (type.is(TypeKind::List)) return fmt::format("tuple[{}, ...]", python_result_type(type.element()));
  return one_type(type.kind());
}

bool has_named_results(FunctionSchema schema) {
  return schema.returns().size() > 1 &&
         std::ranges::all_of(schema.returns(), [](const Argument& result) { return !result.name().empty(); });
}

std::string python_result_type(FunctionSchema schema) {
  const ArgumentList returns = schema.returns();
  if (returns.empty()) return "None";
  if (returns.size() == 1) return python_result_type(returns[0].type());
  if (has_named_results(schema)) return fmt::format("return_types.{}", schema.name());
  const auto types = texts_of(returns, [](const Argument& result) { return python_result_type(result.type()); });
  return fmt::format("tuple[{}]", joined(types));
}

std::string python_constant(std::string_view name) {
  if (name == "Mean") return "1";
  if (name == "Sum") return "2";
  if (name == "inf" || name == "nan") return fmt::format("float('{}')", name);
  return fmt::format("keyway.{}", name);
}

PythonDefault python_default(Argument argument) {
  return argument.has_default() ? default_of(*argument.default_value(), argument.type()) : PythonDefault{};
}

}  // namespace keyway::inline v1
