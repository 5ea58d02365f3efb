#include <keyway/codegen/emit/cpp_types.h>
#include <keyway/core/schema/canonical_cpp.h>

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace keyway::inline v1 {
namespace {

constexpr std::string_view kTensorOptions[] = {"dtype", "layout", "device", "pin_memory"};

// What the identifiers of default values, and the constants of expressions, are in C++.
struct Identifier {
  std::string_view name;
  std::string_view cpp;
};
constexpr Identifier kIdentifiers[] = {
    {"bfloat16", "ScalarType::BFloat16"},
    {"bool", "ScalarType::Bool"},
    {"cdouble", "ScalarType::ComplexDouble"},
    {"cfloat", "ScalarType::ComplexFloat"},
    {"channels_last", "MemoryFormat::ChannelsLast"},
    {"channels_last_3d", "MemoryFormat::ChannelsLast3d"},
    {"complex", "ScalarType::ComplexFloat"},
    {"complex128", "ScalarType::ComplexDouble"},
    {"complex32", "ScalarType::ComplexHalf"},
    {"complex64", "ScalarType::ComplexFloat"},
    {"contiguous_format", "MemoryFormat::Contiguous"},
    {"cpu", "DeviceType::CPU"},
    {"cuda", "DeviceType::CUDA"},
    {"double", "ScalarType::Double"},
    {"float", "ScalarType::Float"},
    {"float16", "ScalarType::Half"},
    {"float32", "ScalarType::Float"},
    {"float64", "ScalarType::Double"},
    {"float8_e4m3fn", "ScalarType::Float8_e4m3fn"},
    {"float8_e5m2", "ScalarType::Float8_e5m2"},
    {"half", "ScalarType::Half"},
    {"inf", "std::numeric_limits<double>::infinity()"},
    {"int", "ScalarType::Int"},
    {"int16", "ScalarType::Short"},
    {"int32", "ScalarType::Int"},
    {"int64", "ScalarType::Long"},
    {"int8", "ScalarType::Char"},
    {"jagged", "Layout::Jagged"},
    {"long", "ScalarType::Long"},
    {"Mean", "Reduction::Mean"},
    {"meta", "DeviceType::Meta"},
    {"nan", "std::numeric_limits<double>::quiet_NaN()"},
    {"pi", "std::numbers::pi"},
    {"preserve_format", "MemoryFormat::Preserve"},
    {"qint32", "ScalarType::QInt32"},
    {"qint8", "ScalarType::QInt8"},
    {"quint8", "ScalarType::QUInt8"},
    {"short", "ScalarType::Short"},
    {"sparse_bsc", "Layout::SparseBsc"},
    {"sparse_bsr", "Layout::SparseBsr"},
    {"sparse_coo", "Layout::Sparse"},
    {"sparse_csc", "Layout::SparseCsc"},
    {"sparse_csr", "Layout::SparseCsr"},
    {"strided", "Layout::Strided"},
    {"Sum", "Reduction::Sum"},
    {"uint16", "ScalarType::UInt16"},
    {"uint32", "ScalarType::UInt32"},
    {"uint64", "ScalarType::UInt64"},
    {"uint8", "ScalarType::Byte"},
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

// Of the text between the quotes of a schema, whose escapes are those of C++.
std::string cpp_string_of_default(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string public_default(DefaultValue value, SchemaType type) {
  if (type.is(TypeKind::Optional)) {
    if (value.kind() != DefaultKind::None) return public_default(value, type.element());
    if (is_tensor(type.element())) return "{}";
    return type.element().is(TypeKind::Generator) ? "nullptr" : "std::nullopt";
  }
  switch (value.kind()) {
    case DefaultKind::Bool: return *value.as_bool() ? "true" : "false";
    case DefaultKind::String: return cpp_string_of_default(*value.as_string());
    case DefaultKind::Identifier: return std::string(cpp_constant(value.text()));
    case DefaultKind::List: {
      std::string items;
      for (const DefaultValue item : value.elements())
        items += (items.empty() ? "" : ", ") + public_default(item, type.element());
      return "{" + items + "}";
    }
    case DefaultKind::Float: {
      const bool infinite = value.text().ends_with("inf");
      if (!infinite && value.text() != "nan") return std::string(value.text());
      return fmt::format("{}std::numeric_limits<double>::{}", value.text().starts_with('-') ? "-" : "",
                         infinite ? "infinity()" : "quiet_NaN()");
    }
    case DefaultKind::Complex:
      return fmt::format("complex<double>(0, {})", value.text().substr(0, value.text().size() - 1));
    default: return std::string(value.text());
  }
}

std::vector<std::string> parameters(FunctionSchema schema, std::string (*type_of)(SchemaType)) {
  std::vector<std::string> out;
  for (const Argument argument : schema.arguments())
    out.push_back(fmt::format("{} {}", type_of(argument.type()), argument.name()));
  return out;
}

}  // namespace

std::string cpp_identifier(FunctionSchema schema) {
  const std::string_view overload = schema.overload_name();
  if (schema.name() == "std" && overload.empty()) return "std_all";  // a struct of that name would hide the namespace
  return fmt::format("{}{}{}", schema.name(), overload.empty() ? "" : "_", overload);
}

std::string_view cpp_constant(std::string_view name) {
  const auto* found = std::ranges::find(kIdentifiers, name, &Identifier::name);
  return found == std::end(kIdentifiers) ? name : found->cpp;
}

std::string canonical_type(SchemaType type) { return canonical_argument(type).cpp; }
std::string canonical_result_type(FunctionSchema schema) { return canonical_result(schema).cpp; }
std::string canonical_signature_type(FunctionSchema schema) { return canonical_signature(schema).cpp; }
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

bool is_tensor_option(std::string_view name) {
  return std::ranges::find(kTensorOptions, name) != std::end(kTensorOptions);
}

bool has_tensor_options(FunctionSchema schema) {
  return std::ranges::all_of(kTensorOptions,
                             [&](std::string_view name) { return schema.arguments().find(name).has_value(); });
}

}  // namespace keyway::inline v1
