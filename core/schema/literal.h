// schema_literal<"add(Tensor a) -> Tensor">: a schema that the compiler has parsed.
#pragma once

#include <keyway/core/schema/fixed_string.h>
#include <keyway/core/schema/parser.h>

#include <cstddef>

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

// What is wrong with a schema, for the compiler to show.
template <const SchemaError& Error>
struct SchemaMessage {
  static constexpr void write(auto& sink) { append_message(sink, Error); }
};

template <SchemaErrorCode Code, std::size_t Column, FixedString Message>
constexpr void report_bad_schema() {
  static_assert(Code == SchemaErrorCode::None,
                "this schema cannot be parsed; the template arguments of report_bad_schema say why and in "
                "which column");
}

template <FixedString Text>
inline constexpr ParseResult kParsed = parse_schema(Text.view());
template <FixedString Text>
inline constexpr SchemaError kParseError = kParsed<Text>.error;

template <FixedString Text>
constexpr auto make_tables() {
  if constexpr (kParseError<Text>.code != SchemaErrorCode::None) {
    report_bad_schema<kParseError<Text>.code, kParseError<Text>.column,
                      fixed_text<SchemaMessage<kParseError<Text>>>()>();
  }
  constexpr SchemaHeader kHeader = kParsed<Text>.tables.header;
  return shrink<std::size_t{kHeader.arguments} + kHeader.returns, kHeader.nodes>(kParsed<Text>.tables);
}
template <FixedString Text>
inline constexpr auto kSchemaTables = make_tables<Text>();

}  // namespace detail

// Text and tables are constants that live as long as the program; a bad schema does not compile.
template <FixedString Text>
inline constexpr FunctionSchema schema_literal{Text.view(), detail::kSchemaTables<Text>};

}  // namespace keyway::inline v1
