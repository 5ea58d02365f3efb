// The letters of a signature, by which the C++ type of a kernel and a schema are compared: at compile time, at
// registration and by the generator. dispatch/call/signature.h has the table of what they mean.
#pragma once

#include <keyway/core/schema/printer.h>
#include <keyway/core/schema/schema.h>

#include <cstddef>
#include <string_view>

namespace keyway::inline v1 {

namespace detail {

// C++ text of each letter; % stands for the class of tensors.
struct CodeLetter {
  char code;
  std::string_view argument;
  std::string_view result;
  std::string_view schema;  // the type that asks for it
};
inline constexpr CodeLetter kCodeLetters[] = {
    {'T', "const %&", "%", "Tensor"},
    {'W', "%&", "%&", "Tensor(a!)"},
    {'i', "std::int64_t", "std::int64_t", "int"},
    {'d', "double", "double", "float"},
    {'b', "bool", "bool", "bool"},
    {'c', "complex<double>", "complex<double>", "complex"},
    {'s', "const Scalar&", "Scalar", "Scalar"},
    {'z', "std::string_view", "std::string", "str"},
    {'t', "ScalarType", "ScalarType", "ScalarType"},
    {'l', "Layout", "Layout", "Layout"},
    {'m', "MemoryFormat", "MemoryFormat", "MemoryFormat"},
    {'e', "Device", "Device", "Device"},
    {'g', "const Generator&", "Generator", "Generator"},
    {'L', "ArrayRef<%>", "std::vector<%>", "Tensor[]"},
    {'O', "ArrayRef<std::optional<%>>", "std::vector<std::optional<%>>", "Tensor?[]"},
    {'I', "ArrayRef<std::int64_t>", "std::vector<std::int64_t>", "int[]"},
    {'D', "ArrayRef<double>", "std::vector<double>", "float[]"},
    {'B', "ArrayRef<bool>", "std::vector<bool>", "bool[]"},
    {'S', "ArrayRef<Scalar>", "std::vector<Scalar>", "Scalar[]"},
    {'Z', "ArrayRef<std::string>", "std::vector<std::string>", "str[]"},
    {'Y', "ArrayRef<ScalarType>", "std::vector<ScalarType>", "ScalarType[]"},
    {'N', "ArrayRef<std::optional<std::int64_t>>", "std::vector<std::optional<std::int64_t>>", "int?[]"},
    {'J', "ArrayRef<std::vector<std::int64_t>>", "std::vector<std::vector<std::int64_t>>", "int[][]"},
    {'M', "ArrayRef<std::vector<%>>", "std::vector<std::vector<%>>", "Tensor[][]"},
    {'-', "void", "void", "()"},
};

struct KindLetter {
  TypeKind kind;
  char code;
  char list;  // of a list of it; 0 if there is none
};
inline constexpr KindLetter kKindLetters[] = {
    {TypeKind::Tensor, 'T', 'L'},     {TypeKind::Int, 'i', 'I'},        {TypeKind::SymInt, 'i', 'I'},
    {TypeKind::Float, 'd', 'D'},      {TypeKind::SymFloat, 'd', 'D'},   {TypeKind::Bool, 'b', 'B'},
    {TypeKind::SymBool, 'b', 'B'},    {TypeKind::Complex, 'c', 0},      {TypeKind::Scalar, 's', 'S'},
    {TypeKind::Str, 'z', 'Z'},        {TypeKind::ScalarType, 't', 'Y'}, {TypeKind::Layout, 'l', 0},
    {TypeKind::MemoryFormat, 'm', 0}, {TypeKind::Device, 'e', 0},       {TypeKind::Generator, 'g', 0},
};

constexpr bool is_int(SchemaType type) { return type.is(TypeKind::Int) || type.is(TypeKind::SymInt); }

// The letter of a list whose elements are optional or lists themselves; 0 if there is none.
constexpr char nested_list_code(SchemaType element, bool tensors_apart) {
  const SchemaType inner = element.element();
  if (element.is(TypeKind::List)) return inner.is(TypeKind::Tensor) ? 'M' : is_int(inner) ? 'J' : '\0';
  if (inner.is(TypeKind::Tensor)) return tensors_apart ? 'O' : 'L';
  return is_int(inner) ? 'N' : '\0';
}

}  // namespace detail

// How tensors that may be absent are written. Canonically they are undefined tensors, so that "Tensor?" and "Tensor"
// are both T; authors of kernels tell them apart, "?T" and "T", and lists of them, "O" and "L".
enum class AbsentTensors : bool { Undefined, Optional };

// Appends the code of a type to a sink that has append(std::string_view). False for a type that kernels cannot take or
// return.
template <typename Sink>
constexpr bool append_code(Sink& sink, SchemaType type, AbsentTensors absent = AbsentTensors::Undefined) {
  const auto put = [&](char c) {
    const char text[] = {c};
    sink.append(std::string_view(text, 1));
    return true;
  };
  const bool apart = absent == AbsentTensors::Optional;
  if (type.is(TypeKind::Optional)) {
    const SchemaType element = type.element();
    const bool undefined = element.is(TypeKind::Generator) || (element.is(TypeKind::Tensor) && !apart);
    if (!undefined) put('?');
    return append_code(sink, element, absent);
  }
  if (type.is(TypeKind::Tensor) && type.is_write()) return put('W');
  const bool list = type.is(TypeKind::List);
  const SchemaType base = list ? type.element() : type;
  if (list && (base.is(TypeKind::Optional) || base.is(TypeKind::List))) {
    const char code = detail::nested_list_code(base, apart);
    return code != 0 && put(code);
  }
  for (const detail::KindLetter& kind : detail::kKindLetters) {
    if (kind.kind == base.kind() && (!list || kind.list != 0)) return put(list ? kind.list : kind.code);
  }
  return false;
}

template <typename Sink>
constexpr bool append_result_code(Sink& sink, FunctionSchema schema, AbsentTensors absent = AbsentTensors::Undefined) {
  const ArgumentList returns = schema.returns();
  if (returns.empty()) sink.append(std::string_view("-"));
  if (returns.size() > 1) sink.append(std::string_view("("));
  for (const Argument result : returns) {
    if (!append_code(sink, result.type(), absent)) return false;
  }
  if (returns.size() > 1) sink.append(std::string_view(")"));
  return true;
}

// The code of the front of `code`: of one argument, or of one result.
constexpr std::string_view first_code(std::string_view code) {
  if (code.starts_with('(')) return code.substr(0, detail::find(code, ')') + 1);
  std::size_t size = 1;
  while (size <= code.size() && code[size - 1] == '?') ++size;
  return code.substr(0, size);
}

// Appends the C++ text of what first_code gives.
template <typename Sink>
constexpr void append_cpp(Sink& sink, std::string_view code, bool result, std::string_view tensor = "TensorBase") {
  if (code.starts_with('(')) {
    sink.append(std::string_view("std::tuple<"));
    code = code.substr(1, code.size() - 2);
    for (bool first = true; !code.empty(); first = false) {
      if (!first) sink.append(std::string_view(", "));
      append_cpp(sink, first_code(code), result, tensor);
      code.remove_prefix(first_code(code).size());
    }
    return sink.append(std::string_view(">")), void();
  }
  if (code.starts_with('?')) {
    code.remove_prefix(1);
    sink.append(std::string_view("std::optional<"));
    append_cpp(sink, code, result || code == "s" || code == "T", tensor);  // these are held by value
    return sink.append(std::string_view(">")), void();
  }
  for (const detail::CodeLetter& letter : detail::kCodeLetters) {
    if (!code.starts_with(letter.code)) continue;
    std::string_view text = result ? letter.result : letter.argument;
    if (const std::size_t at = detail::find(text, '%'); at != std::string_view::npos) {
      sink.append(text.substr(0, at));
      sink.append(tensor);
      text.remove_prefix(at + 1);
    }
    sink.append(text);
    return;
  }
}

// Appends the schema type that asks for what first_code gives: "Tensor(a!)", "int?", "(Tensor, Tensor)".
template <typename Sink>
constexpr void append_schema_type(Sink& sink, std::string_view code) {
  if (code.starts_with('(')) {
    sink.append(std::string_view("("));
    code = code.substr(1, code.size() - 2);
    for (bool first = true; !code.empty(); first = false) {
      if (!first) sink.append(std::string_view(", "));
      append_schema_type(sink, first_code(code));
      code.remove_prefix(first_code(code).size());
    }
    return sink.append(std::string_view(")")), void();
  }
  const bool optional = code.starts_with('?');
  if (optional) code.remove_prefix(1);
  for (const detail::CodeLetter& letter : detail::kCodeLetters) {
    if (code.starts_with(letter.code)) sink.append(letter.schema);
  }
  if (optional) sink.append(std::string_view("?"));
}

}  // namespace keyway::inline v1
