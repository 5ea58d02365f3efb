// The canonical text of a schema: what PyTorch's native_functions.yaml writes. Parsing it gives the schema
// back.
#pragma once

#include <keyway/core/schema/schema.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace keyway::inline v1 {
namespace detail {

// Prints to a sink that has append(std::string_view): a string, a hash, a fixed buffer.
template <typename Sink>
class SchemaPrinter {
 public:
  constexpr explicit SchemaPrinter(Sink& sink) : sink_(sink) {}

  constexpr void print(FunctionSchema schema) {
    put(schema.full_name());
    put("(");
    print_arguments(schema);
    put(") -> ");
    print_returns(schema);
  }

  constexpr void print(SchemaType type) {
    switch (type.kind()) {
      case TypeKind::List:
      case TypeKind::Optional: print_suffixed(type); break;
      case TypeKind::Tuple: print_parts("", type); break;
      case TypeKind::Union: print_parts("Union", type); break;
      case TypeKind::Dict: print_parts("Dict", type); break;
      case TypeKind::Future: print_parts("Future", type); break;
      case TypeKind::RRef: print_parts("RRef", type); break;
      case TypeKind::Await: print_parts("Await", type); break;
      default: put(type.name());
    }
    print(type.alias());
  }

  constexpr void print(AliasInfo alias) {
    if (!alias) return;
    if (alias.is_fresh()) return put("!");
    put("(");
    print(alias.before());
    if (alias.is_write()) put("!");
    if (alias.has_after()) {
      put(" -> ");
      print(alias.after());
    }
    put(")");
  }

  constexpr void print(DefaultValue value) {
    if (value.kind() != DefaultKind::List) return put(value.text());
    put("[");
    std::string_view separator;
    for (const DefaultValue element : value.elements()) {
      put(separator);
      print(element);
      separator = ",";
    }
    put("]");
  }

  constexpr void print(Argument argument) {
    print(argument.type());
    if (!argument.name().empty()) {
      put(" ");
      put(argument.name());
    }
    if (argument.has_default()) {
      put("=");
      print(*argument.default_value());
    }
  }

  // One return stands without parentheses, unless its type begins with one.
  constexpr void print_returns(FunctionSchema schema) {
    const ArgumentList returns = schema.returns();
    const bool bare =
        schema.is_varret() ? returns.empty() : returns.size() == 1 && !begins_with_tuple(returns[0].type());
    if (!bare) put("(");
    std::string_view separator;
    for (const Argument result : returns) {
      put(separator);
      print(result);
      separator = ", ";
    }
    if (schema.is_varret()) {
      put(separator);
      put("...");
    }
    if (!bare) put(")");
  }

 private:
  constexpr void put(std::string_view text) { sink_.append(text); }

  constexpr void print(AliasSet set) {
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (i > 0) put("|");
      put(set[i]);
    }
  }

  constexpr void print_suffixed(SchemaType type) {
    print(type.element());
    if (type.is(TypeKind::Optional)) return put("?");
    put("[");
    put(type.list_size_text());
    put("]");
  }

  constexpr void print_parts(std::string_view name, SchemaType type) {
    put(name);
    std::string_view separator = "(";
    for (const SchemaType part : type.parts()) {
      put(separator);
      print(part);
      separator = ", ";
    }
    put(")");
  }

  constexpr void print_arguments(FunctionSchema schema) {
    std::string_view separator;
    const ArgumentList arguments = schema.arguments();
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      put(separator);
      if (i == schema.positional_count()) put("*, ");
      print(arguments[i]);
      separator = ", ";
    }
    if (!schema.is_vararg()) return;
    put(separator);
    put("...");
  }

  static constexpr bool begins_with_tuple(SchemaType type) {
    while (type.is(TypeKind::List) || type.is(TypeKind::Optional)) type = type.element();
    return type.is(TypeKind::Tuple);
  }

  Sink& sink_;
};

template <typename T>
std::string print_to_string(const T& value) {
  std::string text;
  SchemaPrinter(text).print(value);
  return text;
}

}  // namespace detail

// Appends the canonical text to a sink that has append(std::string_view). Works at compile time.
template <typename Sink>
constexpr void append_schema(Sink& sink, FunctionSchema schema) {
  detail::SchemaPrinter<Sink>(sink).print(schema);
}

inline std::string to_string(FunctionSchema schema) { return detail::print_to_string(schema); }
inline std::string to_string(SchemaType type) { return detail::print_to_string(type); }
inline std::string to_string(AliasInfo alias) { return detail::print_to_string(alias); }
inline std::string to_string(DefaultValue value) { return detail::print_to_string(value); }
inline std::string to_string(Argument argument) { return detail::print_to_string(argument); }

}  // namespace keyway::inline v1
