// schema_literal<"add(Tensor a) -> Tensor">: a schema that the compiler has parsed.
#pragma once

#include <keyway/core/schema/fixed_string.h>
#include <keyway/core/schema/parser.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace keyway::inline v1 {
namespace detail {

// As small as the schema is.
template <std::size_t Slots, std::size_t Nodes>
constexpr SchemaTables<Slots, Nodes> shrink(const LargestSchemaTables& large) {
  SchemaTables<Slots, Nodes> tables{};
  tables.header = large.header;
  for (std::size_t i = 0; i < Slots; ++i) tables.slots[i] = large.slots[i];
  for (std::size_t i = 0; i < Nodes; ++i) tables.nodes[i] = large.nodes[i];
  return tables;
}

// A string as long as the message of an error: g++ shows its text in the error of the compiler.
template <std::size_t N>
struct MessageBuffer : FixedString<N> {
  constexpr void append(std::string_view text) {
    for (const char c : text) this->chars[size++] = c;
  }
  std::size_t size = 0;
};
struct MessageLength {
  constexpr void append(std::string_view text) { size += text.size(); }
  std::size_t size = 0;
};
template <const SchemaError& Error>
constexpr auto message_of() {
  constexpr std::size_t kSize = [] {
    MessageLength length;
    append_message(length, Error);
    return length.size;
  }();
  MessageBuffer<kSize + 1> buffer;
  append_message(buffer, Error);
  return static_cast<FixedString<kSize + 1>>(buffer);
}

template <SchemaErrorCode Code, std::size_t Column, FixedString Message>
constexpr void report_bad_schema() {
  static_assert(Code == SchemaErrorCode::None,
                "this schema cannot be parsed; the template arguments of report_bad_schema say why and in "
                "which column");
}

template <FixedString Text>
struct SchemaLiteral {
  static constexpr ParseResult parsed = parse_schema(Text.view());
  static constexpr SchemaError error = parsed.error;

  static constexpr auto make_tables() {
    if constexpr (error.code != SchemaErrorCode::None) {
      report_bad_schema<error.code, error.column, message_of<error>()>();
    }
    constexpr SchemaHeader header = parsed.tables.header;
    return shrink<std::size_t{header.arguments} + header.returns, header.nodes>(parsed.tables);
  }
  static constexpr auto tables = make_tables();
  static constexpr FunctionSchema schema{Text.view(), tables};
};

}  // namespace detail

// Text and tables are constants that live as long as the program; a bad schema does not compile.
template <FixedString Text>
inline constexpr FunctionSchema schema_literal = detail::SchemaLiteral<Text>::schema;

}  // namespace keyway::inline v1
