// The letters of a signature (value_code.h), by which the C++ type of a kernel and a schema are compared: at compile
// time, at registration and by the generator.
#pragma once

#include <keyway/core/schema/printer.h>
#include <keyway/core/schema/schema.h>
#include <keyway/core/schema/value_code.h>

#include <cstddef>
#include <string_view>

namespace keyway::inline v1 {

// How tensors that may be absent are written. Canonically they are undefined tensors, so that "Tensor?" and "Tensor"
// are both T; authors of kernels tell them apart, "?T" and "T", and lists of them, "[?T" and "[T".
enum class AbsentTensors : bool { Undefined, Optional };

namespace detail {

// Room for the code of one value; what is beyond it is cut off, and is that of no list.
struct ShortCode {
  char text[8] = {};
  std::size_t size = 0;

  constexpr void append(std::string_view letters) {
    for (const char letter : letters) {
      if (size < sizeof text) text[size++] = letter;
    }
  }
  constexpr std::string_view view() const { return {text, size}; }
};

template <typename Sink>
constexpr void append_letter(Sink& sink, char letter) {
  const char text[] = {letter};
  sink.append(std::string_view(text, 1));
}

template <typename Sink>
constexpr bool append_value_code(Sink& sink, SchemaType type, AbsentTensors absent, bool in_list);

// That of a tuple in a list.
template <typename Sink>
constexpr bool append_tuple_code(Sink& sink, SchemaType tuple) {
  ShortCode first;
  for (bool is_first = true; const SchemaType part : tuple.parts()) {
    ShortCode code;
    if (!append_value_code(code, part, AbsentTensors::Optional, true)) return false;
    if (is_first) first = code;
    if (code.view() != first.view() || !is_list_element(code.view())) return false;
    is_first = false;
  }
  append_letter(sink, '[');
  sink.append(first.view());
  return first.size > 0;
}

// As append_code. A tensor that is written to has a letter of its own, but in lists.
template <typename Sink>
constexpr bool append_value_code(Sink& sink, SchemaType type, AbsentTensors absent, bool in_list) {
  if (type.is(TypeKind::Optional)) {
    const SchemaType element = type.element();
    const bool undefined =
        element.is(TypeKind::Generator) || (element.is(TypeKind::Tensor) && absent == AbsentTensors::Undefined);
    if (!undefined) append_letter(sink, '?');
    return append_value_code(sink, element, absent, in_list);
  }
  if (type.is(TypeKind::List)) {
    ShortCode element;
    if (!append_value_code(element, type.element(), AbsentTensors::Optional, true)) return false;
    if (element.view() != "?T" && !is_list_element(element.view())) return false;
    append_letter(sink, '[');
    return append_value_code(sink, type.element(), absent, true);
  }
  if (type.is(TypeKind::Tuple) && in_list) return append_tuple_code(sink, type);
  if (type.is(TypeKind::Dict)) {
    append_letter(sink, '{');
    for (bool is_key = true; const SchemaType part : type.parts()) {
      ShortCode code;
      if (!append_value_code(code, part, AbsentTensors::Optional, true)) return false;
      if (!(is_key ? is_dict_key(code.view()) : is_dict_value(code.view()))) return false;
      sink.append(code.view());
      is_key = false;
    }
    return true;
  }
  const NamedType* const named = find_named_type(type.kind());
  if (named == nullptr) return false;
  append_letter(sink, named->kind == TypeKind::Tensor && type.is_write() && !in_list ? 'W' : named->code);
  return true;
}

}  // namespace detail

// Appends the code of a type to a sink that has append(std::string_view). False for a type that kernels cannot take or
// return.
template <typename Sink>
constexpr bool append_code(Sink& sink, SchemaType type, AbsentTensors absent = AbsentTensors::Undefined) {
  return detail::append_value_code(sink, type, absent, false);
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
  if (code.starts_with('(')) return code.substr(0, code.find(')') + 1);
  std::size_t size = 1;
  while (size <= code.size() && (code[size - 1] == '?' || code[size - 1] == '[')) ++size;
  if (size <= code.size() && code[size - 1] == '{') {
    size += first_code(code.substr(size)).size();  // the keys
    size += first_code(code.substr(size)).size();
  }
  return code.substr(0, size);
}

// Calls f(code, whether it is the first) for each part of a tuple's code, "(TT)".
template <typename F>
constexpr void for_each_part(std::string_view tuple, const F& f) {
  tuple = tuple.substr(1, tuple.size() - 2);
  for (bool first = true; !tuple.empty(); first = false) {
    f(first_code(tuple), first);
    tuple.remove_prefix(first_code(tuple).size());
  }
}

// How a value is held: as a kernel takes it, or as a class of its own, which results and elements of lists have.
enum class HeldAs : std::uint8_t { Argument, Value };

// Appends the C++ text of what first_code gives.
template <typename Sink>
constexpr void append_cpp(Sink& sink, std::string_view code, HeldAs held, std::string_view tensor = "TensorBase") {
  const auto enclose = [&](std::string_view before, std::string_view inner, HeldAs inner_held) {
    sink.append(before);
    append_cpp(sink, inner, inner_held, tensor);
    sink.append(std::string_view(">"));
  };
  if (code.starts_with('(')) {
    sink.append(std::string_view("std::tuple<"));
    for_each_part(code, [&](std::string_view part, bool first) {
      if (!first) sink.append(std::string_view(", "));
      append_cpp(sink, part, held, tensor);
    });
    return sink.append(std::string_view(">")), void();
  }
  const bool argument = held == HeldAs::Argument;
  if (code.starts_with('{')) {
    const std::string_view key = first_code(code.substr(1)), value = code.substr(1 + key.size());
    sink.append(std::string_view(argument ? "const Dict<" : "Dict<"));
    append_cpp(sink, key, HeldAs::Value, tensor);
    sink.append(std::string_view(", "));
    append_cpp(sink, value, HeldAs::Value, tensor);
    return sink.append(std::string_view(argument ? ">&" : ">")), void();
  }
  if (code.starts_with('[')) return enclose(argument ? "ArrayRef<" : "std::vector<", code.substr(1), HeldAs::Value);
  if (code.starts_with('?')) {
    const detail::NamedType* const inner = detail::find_named_type(code[1]);
    const bool by_reference = code[1] == '{' || (inner != nullptr && inner->argument.ends_with('&'));
    // There are no optional references.
    return enclose("std::optional<", code.substr(1), by_reference ? HeldAs::Value : held);
  }
  const detail::NamedType* const named = detail::find_named_type(code.front());
  if (named == nullptr) return;
  std::string_view text = argument ? named->argument : named->cpp;
  if (const std::size_t at = text.find('%'); at != std::string_view::npos) {
    sink.append(text.substr(0, at));
    sink.append(tensor);
    text.remove_prefix(at + 1);
  }
  sink.append(text);
}

// Appends the schema type that asks for what first_code gives: "Tensor(a!)", "int?", "(Tensor, Tensor)". For each
// object of a registered class it calls append_class(sink), from left to right.
template <typename Sink, typename AppendClass>
constexpr void append_schema_type(Sink& sink, std::string_view code, const AppendClass& append_class) {
  if (code.starts_with('(')) {
    sink.append(std::string_view("("));
    for_each_part(code, [&](std::string_view part, bool first) {
      if (!first) sink.append(std::string_view(", "));
      append_schema_type(sink, part, append_class);
    });
    return sink.append(std::string_view(")")), void();
  }
  if (code.empty()) return;
  if (code.starts_with('{')) {
    const std::string_view key = first_code(code.substr(1));
    sink.append(std::string_view("Dict("));
    append_schema_type(sink, key, append_class);
    sink.append(std::string_view(", "));
    append_schema_type(sink, code.substr(1 + key.size()), append_class);
    return sink.append(std::string_view(")")), void();
  }
  if (code.starts_with('?') || code.starts_with('[')) {
    append_schema_type(sink, code.substr(1), append_class);
    return sink.append(std::string_view(code.starts_with('?') ? "?" : "[]")), void();
  }
  const detail::NamedType* const named = detail::find_named_type(code.front());
  if (named == nullptr) return;
  named->kind == TypeKind::Class ? append_class(sink) : static_cast<void>(sink.append(named->schema));
}

// The same with one word, "object", for every registered class.
template <typename Sink>
constexpr void append_schema_type(Sink& sink, std::string_view code) {
  append_schema_type(sink, code, [](Sink& s) { s.append(detail::find_named_type(TypeKind::Class)->schema); });
}

}  // namespace keyway::inline v1
