// What can be wrong with the text of a schema, and the sentence that says it.
#pragma once

#include <keyway/core/schema/packed_schema.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace keyway::inline v1 {

// A compiler's message about a bad schema literal shows this name and the column.
enum class SchemaErrorCode : std::uint8_t {
  None,
  UnexpectedToken,
  UnterminatedString,
  BadNumber,
  BadListSize,
  UnknownType,
  WrongNumberOfTypes,
  ReservedOverloadName,
  DuplicateArgument,
  DuplicateReturn,
  SecondStar,
  NothingAfterStar,
  VarargNotLast,
  VarargWithDefault,
  DefaultOfWrongType,
  UnknownIdentifier,
  BadEscape,
  TooManyArguments,
  TooManyReturns,
  TooManyTypes,
  TooManyAliases,
  TooDeep,
  TextTooLong,
};

struct SchemaError {
  SchemaErrorCode code = SchemaErrorCode::None;
  std::uint32_t column = 0;  // of the first byte of what is wrong; the first is 1
  std::string_view subject;  // the piece of the text that is wrong
  std::string_view detail;   // what was expected, or is suggested
};

namespace detail {

// Appends `text` so that it can be read on a terminal: short, and with bytes that are not ASCII as \xNN.
template <typename Sink>
constexpr void append_escaped(Sink& sink, std::string_view text) {
  constexpr std::size_t kLongest = 60;
  constexpr std::string_view kHex = "0123456789abcdef";
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i == kLongest) return void(sink.append(std::string_view("...")));
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0x20 && byte < 0x7f) {
      sink.append(text.substr(i, 1));
    } else {
      sink.append(std::string_view("\\x"));
      sink.append(kHex.substr(byte / 16, 1));
      sink.append(kHex.substr(byte % 16, 1));
    }
  }
}

// `{}` stands for the subject in quotes, `{detail}` for the detail as it is.
constexpr std::string_view message_template(const SchemaError& error) {
  switch (error.code) {
    case SchemaErrorCode::None: return "no error";
    case SchemaErrorCode::UnexpectedToken:
      return error.subject.empty() ? "expected {detail}, but the text ends here" : "expected {detail}, but found {}";
    case SchemaErrorCode::UnterminatedString: return "the string {} has no closing quote";
    case SchemaErrorCode::BadNumber: return "{} is not a number";
    case SchemaErrorCode::BadListSize: return "the size of a list is a whole number from 1 to 65535, not {}";
    case SchemaErrorCode::UnknownType:
      return error.detail.empty() ? "{} is not a type" : "{} is not a type; did you mean '{detail}'?";
    case SchemaErrorCode::WrongNumberOfTypes: return "{} is made of {detail}";
    case SchemaErrorCode::ReservedOverloadName:
      return "{} cannot name an overload: 'default' and names that begin with '__' are reserved";
    case SchemaErrorCode::DuplicateArgument: return "there are two arguments named {}";
    case SchemaErrorCode::DuplicateReturn: return "there are two returns named {}";
    case SchemaErrorCode::SecondStar: return "there is a second '*' among the arguments";
    case SchemaErrorCode::NothingAfterStar: return "no keyword-only argument follows the '*'";
    case SchemaErrorCode::VarargNotLast: return "'...' must come last";
    case SchemaErrorCode::VarargWithDefault: return "an operator that takes '...' cannot have default values";
    case SchemaErrorCode::DefaultOfWrongType: return "the default {} does not fit the type '{detail}'";
    case SchemaErrorCode::UnknownIdentifier: return "{} is not a value of the type '{detail}'";
    case SchemaErrorCode::BadEscape:
      return "the string {} has an escape that is none of \\\\ \\' \\\" \\a \\b \\f \\n \\r \\t \\v \\xhh";
    case SchemaErrorCode::TooManyArguments: return "there are more than 64 arguments";
    case SchemaErrorCode::TooManyReturns: return "there are more than 64 returns";
    case SchemaErrorCode::TooManyTypes: return "the types have more than 255 parts in all";
    case SchemaErrorCode::TooManyAliases: return "an alias set has at most 16 names";
    case SchemaErrorCode::TooDeep: return "types and defaults can be nested at most 16 deep";
    case SchemaErrorCode::TextTooLong: return "a schema is at most 65535 bytes long";
  }
  return "unknown error";
}
static_assert(kMaxSchemaArguments == 64 && kMaxSchemaReturns == 64 && kMaxSchemaTypeNodes == 255 &&
              kMaxSchemaNesting == 16 && kMaxAliasSet == 16 && kMaxSchemaText == 65535);

}  // namespace detail

// Appends the sentence, without column and full stop, to a sink that has append(std::string_view).
template <typename Sink>
constexpr void append_message(Sink& sink, const SchemaError& error) {
  constexpr std::string_view kDetail = "{detail}";
  std::string_view rest = detail::message_template(error);
  for (std::size_t brace = 0; (brace = rest.find('{')) != std::string_view::npos;) {
    sink.append(rest.substr(0, brace));
    rest.remove_prefix(brace);
    if (rest.starts_with(kDetail)) {
      detail::append_escaped(sink, error.detail);
      rest.remove_prefix(kDetail.size());
    } else {
      sink.append(std::string_view("'"));
      detail::append_escaped(sink, error.subject);
      sink.append(std::string_view("'"));
      rest.remove_prefix(2);
    }
  }
  sink.append(rest);
}

}  // namespace keyway::inline v1
