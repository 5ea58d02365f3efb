#include <keyway/codegen/base/names.h>
#include <keyway/codegen/emit/cpp_text.h>
#include <keyway/codegen/emit/cpp_types.h>
#include <keyway/core/schema/canonical_cpp.h>
#include <keyway/core/schema/named_values.h>
#include <keyway/core/schema/string_default.h>

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <iterator>
#include <limits>

namespace keyway::inline v1 {
namespace {

// What the constants of expressions are in C++, besides the values that schemas have names for.
constexpr CppWord kConstants[] = {
    {"inf", "std::numeric_limits<double>::infinity()"},
    {"nan", "std::numeric_limits<double>::quiet_NaN()"},
    {"pi", "std::numbers::pi"},
};

bool is_tensor(SchemaType type) { return type.is(TypeKind::Tensor); }
bool is_int(SchemaType type) { return type.is(TypeKind::Int) || type.is(TypeKind::SymInt); }
bool is_list_of(SchemaType type, bool (*test)(SchemaType)) { return type.is(TypeKind::List) && test(type.element()); }
bool is_optional(SchemaType type, bool (*test)(SchemaType)) {
  return type.is(TypeKind::Optional) && test(type.element());
}
bool is_optional_tensor(SchemaType type) { return is_optional(type, is_tensor); }
bool is_tensor_list(SchemaType type) { return is_list_of(type, is_tensor); }
bool is_int_list(SchemaType type) { return is_list_of(type, is_int); }

// One result: values where arguments are references.
std::string public_result_type(SchemaType type) {
  if (is_tensor(type)) return type.is_write() ? "Tensor&" : "Tensor";
  if (is_tensor_list(type)) return "std::vector<Tensor>";
  return {};
}

// An integer that may stand anywhere: C++ has no literal of the least one, and reads 010 as 8.
std::string cpp_int(std::int64_t value) {
  if (value == std::numeric_limits<std::int64_t>::min()) return "std::numeric_limits<std::int64_t>::min()";
  return fmt::format("{}", value);
}

std::string cpp_float(std::string_view text) {
  const bool infinite = text.ends_with("inf");
  if (infinite || text == "nan")
    return fmt::format("{}std::numeric_limits<double>::{}", text.starts_with('-') ? "-" : "",
                       infinite ? "infinity()" : "quiet_NaN()");
  return std::string(text);
}

std::string complex_default(const std::string& real, const std::string& imaginary) {
  return fmt::format("complex<double>({}, {})", real, imaginary);
}

// Of a type that is written as one name.
std::string one_default(DefaultValue value, TypeKind type) {
  const std::optional<std::int64_t> number = value.as_int();
  switch (value.kind()) {
    case DefaultKind::Bool: return *value.as_bool() ? "true" : "false";
    case DefaultKind::String: return cpp_string(string_of_default(*value.as_string()));
    case DefaultKind::Identifier: return std::string(find_named_value(type, value.text())->cpp);
    case DefaultKind::Float:
      return type == TypeKind::Complex ? complex_default(cpp_float(value.text()), "0") : cpp_float(value.text());
    case DefaultKind::Complex:
      return complex_default("0", std::string(value.text().substr(0, value.text().size() - 1)));
    default: break;
  }
  if (!number) return fmt::format("{}.", value.text());  // a float of more than 64 bits
  if (type == TypeKind::Complex) return complex_default(cpp_int(*number), "0");
  const NamedValue* const named = type == TypeKind::Int ? nullptr : find_named_value(type, *number);
  return named != nullptr ? std::string(named->cpp) : cpp_int(*number);
}

std::string public_default(DefaultValue value, SchemaType type) {
  if (type.is(TypeKind::Optional)) {
    if (value.kind() != DefaultKind::None) return public_default(value, type.element());
    if (is_tensor(type.element())) return "{}";
    return type.element().is(TypeKind::Generator) ? "nullptr" : "std::nullopt";
  }
  if (value.kind() != DefaultKind::List)
    return one_default(value, type.is(TypeKind::List) ? type.element().kind() : type.kind());
  const auto text_of = [&](DefaultValue item) { return public_default(item, type.element()); };
  return fmt::format("{{{}}}", joined(texts_of(value.elements(), text_of)));
}

std::vector<std::string> parameters(FunctionSchema schema, std::string (*type_of)(SchemaType)) {
  return texts_of(schema.arguments(), [&](const Argument& argument) {
    return fmt::format("{} {}", type_of(argument.type()), argument.name());
  });
}

}  // namespace

std::string_view cpp_word(std::span<const CppWord> table, std::string_view word, std::string_view otherwise) {
  const auto found = std::ranges::find(table, word, &CppWord::word);
  return found == table.end() ? otherwise : found->cpp;
}

std::string_view cpp_constant(std::string_view name) {
  for (const NamedValue& value : kNamedValues) {
    if (value.is_called(name)) return value.cpp;
  }
  return cpp_word(kConstants, name, name);
}

std::string canonical_type(SchemaType type) { return canonical_argument(type).cpp; }
bool is_std_optional(SchemaType type) {
  return type.is(TypeKind::Optional) && !is_tensor(type.element()) && !type.element().is(TypeKind::Generator);
}
std::string canonical_result_type(FunctionSchema schema) { return canonical_result(schema).cpp; }
std::vector<std::string> canonical_parameters(FunctionSchema schema) { return parameters(schema, canonical_type); }

std::string public_type(SchemaType type) {
  if (is_tensor(type)) return type.is_write() ? "Tensor&" : "const Tensor&";
  if (is_optional_tensor(type)) return "const std::optional<Tensor>&";
  if (is_tensor_list(type)) return "ArrayRef<Tensor>";
  if (is_list_of(type, is_optional_tensor)) return "ArrayRef<std::optional<Tensor>>";
  if (is_int_list(type)) return "IntArrayRef";
  if (is_optional(type, is_int_list)) return "OptionalIntArrayRef";
  return canonical_type(type);
}

std::string public_result_type(FunctionSchema schema) {
  const ArgumentList returns = schema.returns();
  if (returns.empty()) return "void";
  std::string types;
  for (std::size_t i = 0; i < returns.size(); ++i) {
    const std::string type = public_result_type(returns[i].type());
    if (type.empty()) return canonical_result_type(schema);
    types += (i > 0 ? ", " : "") + type;
  }
  return returns.size() == 1 ? types : "std::tuple<" + types + ">";
}

std::vector<std::string> public_parameters(FunctionSchema schema) { return parameters(schema, public_type); }

std::string public_default(Argument argument) { return public_default(*argument.default_value(), argument.type()); }

}  // namespace keyway::inline v1
