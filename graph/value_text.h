// The values of arguments as text, as Python writes them, and back. Of which type a value is, the schema says.
#pragma once

#include <keyway/core/schema/argument.h>
#include <keyway/core/schema/lexer.h>
#include <keyway/core/schema/type.h>
#include <keyway/dispatch/call/ivalue.h>
#include <keyway/graph/formula.h>
#include <keyway/graph/graph.h>

#include <string>

namespace keyway::inline v1::graph {

// "[1, 2]", "float32", "'mean'", "%3" for a tensor's number. Of what has no text, a generator, its name in <>.
std::string text_of(SchemaType type, const IValue& value);

// The arguments of a call: by position up to the first one that is left out, since it is its default, then by name.
std::string arguments_text(const Node& node);

// Whether the argument has a default, and the value is it.
bool is_default(const Argument& argument, const IValue& value);

// A text in quotes, as parse_string reads it.
std::string in_quotes(std::string_view text);

// Reads a value, whose integers may be formulas of the dimensions. Throws keyway::Error(Parse) for what is none of that
// type.
IValue parse_value(SchemaType type, detail::Lexer& lexer, const Dimensions& dimensions);

// The number of a value, %3.
std::int64_t parse_value_id(detail::Lexer& lexer);
std::vector<std::int64_t> parse_ints(detail::Lexer& lexer, const Dimensions& dimensions);
std::string parse_string(detail::Lexer& lexer);
// Throws keyway::Error(Parse) unless this is what comes next.
void expect(detail::Lexer& lexer, char c);
// What comes next, for messages.
std::string found(const detail::Lexer& lexer);

}  // namespace keyway::inline v1::graph
