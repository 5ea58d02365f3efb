// parse_schema: text to schema, at compile time and at run time; it never throws and never allocates.
#pragma once

#include <keyway/core/schema/default_check.h>
#include <keyway/core/schema/lexer.h>
#include <keyway/core/schema/packed_schema.h>
#include <keyway/core/schema/parse_error.h>
#include <keyway/core/schema/schema.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace keyway::inline v1 {

// About 6 KiB, room for the largest schema. Keep an OwnedSchema or a schema_literal instead, which are as
// small as their schema is.
struct ParseResult {
  std::string_view text;
  detail::LargestSchemaTables tables;
  SchemaError error;

  constexpr bool ok() const { return error.code == SchemaErrorCode::None; }
  // Requires: ok(). The schema lives as long as this result and the text do.
  constexpr FunctionSchema schema() const& { return {text, tables}; }
  FunctionSchema schema() && = delete;

  // Of what is wrong, counted in bytes from 1; 0 if nothing is.
  constexpr std::size_t column() const { return error.column; }
  std::string message() const {
    std::string message;
    append_message(message, error);
    return message;
  }
};

namespace detail {

// Recursive descent with one token of look-ahead. Each parse_x returns false after the first error.
class SchemaParser {
 public:
  constexpr explicit SchemaParser(ParseResult& result)
      : result_(result), text_(result.text), lexer_(text_), tables_(result.tables), header_(tables_.header) {}

  constexpr bool run() {
    if (text_.size() > kMaxSchemaText) return fail(SchemaErrorCode::TextTooLong, kMaxSchemaText, kMaxSchemaText);
    return parse_name() && parse_arguments() && expect(TokenKind::Arrow, "'->' and the returns") && parse_returns() &&
           expect(TokenKind::End, "nothing after the returns");
  }

 private:
  constexpr bool parse_name();
  constexpr bool parse_arguments();
  constexpr bool parse_argument();
  constexpr bool parse_star(std::size_t star);
  constexpr bool parse_default(ArgumentSlot& slot, std::string_view type_text);
  constexpr bool parse_constant(std::size_t depth);
  constexpr bool parse_returns();
  constexpr bool parse_return();
  constexpr bool parse_type(std::size_t depth, std::uint8_t& node);
  constexpr bool parse_base_type(std::size_t depth, std::uint8_t& node);
  constexpr bool parse_class(TypeNode& type);
  constexpr bool parse_parts(std::size_t depth, Token name, TypeNode& type);
  constexpr bool parse_suffixes(std::size_t depth, std::uint8_t& node);
  constexpr bool parse_list_size(TypeNode& list);
  constexpr bool parse_alias(TypeNode& type);
  constexpr bool parse_alias_set();

  constexpr bool fail(SchemaErrorCode code, std::size_t begin, std::size_t end, std::string_view detail = {}) {
    result_.error = {code, static_cast<std::uint32_t>(begin + 1), text_.substr(begin, end - begin), detail};
    return false;
  }
  constexpr bool fail_here(SchemaErrorCode code, std::string_view detail = {}) {
    return fail(code, lexer_.token().begin, lexer_.token().end, detail);
  }
  constexpr bool fail_expected(std::string_view what) {
    if (lexer_.at(TokenKind::BadNumber)) return fail_here(SchemaErrorCode::BadNumber);
    if (lexer_.at(TokenKind::BadString)) return fail_here(SchemaErrorCode::UnterminatedString);
    return fail_here(SchemaErrorCode::UnexpectedToken, what);
  }
  template <typename TokenOrChar>
  constexpr bool expect(TokenOrChar token, std::string_view what) {
    return lexer_.accept(token) || fail_expected(what);
  }
  constexpr bool expect_name(TextSpan& name, std::string_view what) {
    const std::size_t begin = lexer_.token().begin;
    if (!expect(TokenKind::Name, what)) return false;
    name = span_from(begin);
    return true;
  }
  // From `begin` to the end of what has been consumed.
  constexpr TextSpan span_from(std::size_t begin) const {
    return {static_cast<std::uint16_t>(begin), static_cast<std::uint16_t>(lexer_.previous_end() - begin)};
  }
  constexpr bool is_named(std::size_t first, std::size_t last, TextSpan name) const {
    for (; first < last; ++first) {
      if (tables_.slots[first].name.of(text_.data()) == name.of(text_.data())) return true;
    }
    return false;
  }
  constexpr bool add_node(const TypeNode& type, std::uint8_t& node) {
    if (header_.nodes == kMaxSchemaTypeNodes) return fail_here(SchemaErrorCode::TooManyTypes);
    node = header_.nodes++;
    tables_.nodes[node] = type;
    return true;
  }

  ParseResult& result_;
  std::string_view text_;
  Lexer lexer_;
  LargestSchemaTables& tables_;
  SchemaHeader& header_;
  bool after_star_ = false;
};

// [namespace ::] name [. overload], without white space.
constexpr bool SchemaParser::parse_name() {
  if (!expect_name(header_.name, "the operator's name")) return false;
  if (lexer_.at(TokenKind::Colons) && lexer_.adjacent()) {
    lexer_.advance();
    header_.ns = header_.name;
    if (!lexer_.adjacent()) return fail_expected("a name right after '::'");
    if (!expect_name(header_.name, "a name right after '::'")) return false;
  }
  if (!lexer_.at('.') || !lexer_.adjacent()) return true;
  lexer_.advance();
  if (!lexer_.adjacent()) return fail_expected("the overload's name right after '.'");
  const std::size_t begin = lexer_.token().begin;
  if (!expect_name(header_.overload, "the overload's name right after '.'")) return false;
  const std::string_view overload = header_.overload.of(text_.data());
  if (overload != "default" && !overload.starts_with("__")) return true;
  return fail(SchemaErrorCode::ReservedOverloadName, begin, lexer_.previous_end());
}

constexpr bool SchemaParser::parse_arguments() {
  if (!expect('(', "'(' and the arguments")) return false;
  if (lexer_.accept(')')) return true;
  do {
    const std::size_t begin = lexer_.token().begin;
    if (header_.vararg) return fail(SchemaErrorCode::VarargNotLast, begin, begin);
    if (lexer_.accept('*')) {
      if (!parse_star(begin)) return false;
    } else if (lexer_.at(TokenKind::Dots)) {
      header_.vararg = true;
      for (std::size_t i = 0; i < header_.arguments; ++i) {
        if (!tables_.slots[i].default_text.empty()) return fail_here(SchemaErrorCode::VarargWithDefault);
      }
      lexer_.advance();
    } else if (!parse_argument()) {
      return false;
    }
  } while (lexer_.accept(','));
  return expect(')', "',' or ')' after an argument");
}

// Requires: the `*`, which stands at `star`, has been consumed.
constexpr bool SchemaParser::parse_star(std::size_t star) {
  if (after_star_) return fail(SchemaErrorCode::SecondStar, star, star + 1);
  if (lexer_.at(')')) return fail(SchemaErrorCode::NothingAfterStar, star, star + 1);
  after_star_ = true;
  return true;
}

constexpr bool SchemaParser::parse_argument() {
  if (header_.arguments == kMaxSchemaArguments) return fail_here(SchemaErrorCode::TooManyArguments);
  ArgumentSlot& slot = tables_.slots[header_.arguments];
  slot.kwarg_only = after_star_;
  const std::size_t type_begin = lexer_.token().begin;
  if (!parse_type(0, slot.type)) return false;
  const std::string_view type_text = span_from(type_begin).of(text_.data());
  const std::size_t begin = lexer_.token().begin;
  if (!expect_name(slot.name, "the argument's name")) return false;
  if (is_named(0, header_.arguments, slot.name)) {
    return fail(SchemaErrorCode::DuplicateArgument, begin, lexer_.previous_end());
  }
  ++header_.arguments;
  if (!after_star_) ++header_.positional;
  return !lexer_.accept('=') || parse_default(slot, type_text);
}

constexpr bool SchemaParser::parse_default(ArgumentSlot& slot, std::string_view type_text) {
  const std::size_t begin = lexer_.token().begin;
  if (!parse_constant(0)) return false;
  slot.default_text = span_from(begin);
  const DefaultValue value(slot.default_text.of(text_.data()));
  const DefaultFit fit = check_default(value, SchemaType(text_.data(), tables_.nodes, slot.type));
  if (fit == DefaultFit::Fits) return true;
  const auto code = fit == DefaultFit::WrongType           ? SchemaErrorCode::DefaultOfWrongType
                    : fit == DefaultFit::UnknownIdentifier ? SchemaErrorCode::UnknownIdentifier
                                                           : SchemaErrorCode::BadEscape;
  return fail(code, begin, lexer_.previous_end(), type_text);
}

constexpr bool SchemaParser::parse_constant(std::size_t depth) {
  if (depth > kMaxSchemaNesting) return fail_here(SchemaErrorCode::TooDeep);
  if (lexer_.accept(TokenKind::Number) || lexer_.accept(TokenKind::String) || lexer_.accept(TokenKind::Name)) {
    return true;
  }
  if (!expect('[', "a default value")) return false;
  if (lexer_.accept(']')) return true;
  do {
    if (!parse_constant(depth + 1)) return false;
  } while (lexer_.accept(','));
  return expect(']', "',' or ']' after an element");
}

constexpr bool SchemaParser::parse_returns() {
  if (lexer_.accept(TokenKind::Dots)) {
    header_.varret = true;
    return true;
  }
  if (!lexer_.accept('(')) return parse_return();
  if (lexer_.accept(')')) return true;
  do {
    if (header_.varret) return fail_here(SchemaErrorCode::VarargNotLast);
    if (lexer_.accept(TokenKind::Dots)) {
      header_.varret = true;
    } else if (!parse_return()) {
      return false;
    }
  } while (lexer_.accept(','));
  return expect(')', "',' or ')' after a return");
}

constexpr bool SchemaParser::parse_return() {
  if (header_.returns == kMaxSchemaReturns) return fail_here(SchemaErrorCode::TooManyReturns);
  const std::size_t first = header_.arguments;
  const std::size_t last = first + header_.returns;
  ArgumentSlot& slot = tables_.slots[last];
  if (!parse_type(0, slot.type)) return false;
  ++header_.returns;
  if (!lexer_.at(TokenKind::Name)) return true;
  const std::size_t begin = lexer_.token().begin;
  lexer_.advance();
  slot.name = span_from(begin);
  return !is_named(first, last, slot.name) || fail(SchemaErrorCode::DuplicateReturn, begin, lexer_.previous_end());
}

// A base type, then annotations and suffixes: Tensor(a!)[](b)?
constexpr bool SchemaParser::parse_type(std::size_t depth, std::uint8_t& node) {
  if (depth > kMaxSchemaNesting) return fail_here(SchemaErrorCode::TooDeep);
  return parse_base_type(depth, node) && parse_alias(tables_.nodes[node]) && parse_suffixes(depth, node);
}

constexpr bool SchemaParser::parse_base_type(std::size_t depth, std::uint8_t& node) {
  TypeNode type;
  const Token first = lexer_.token();
  const std::string_view name = lexer_.text();
  if (lexer_.at('(')) {
    type.kind = TypeKind::Tuple;
    if (!parse_parts(depth, first, type)) return false;
  } else if (!lexer_.at(TokenKind::Name)) {
    return fail_expected("a type");
  } else if (name == "__torch__") {
    if (!parse_class(type)) return false;
  } else {
    const std::optional<TypeKind> kind = find_type_kind(name);
    if (!kind) return fail_here(SchemaErrorCode::UnknownType, suggest_type_name(name));
    lexer_.advance();
    type.kind = *kind;
    if (type.kind < TypeKind::List) {
      type.name = span_from(first.begin);
    } else if (!parse_parts(depth, first, type)) {
      return false;
    }
  }
  return add_node(type, node);
}

// __torch__.a.b.C, without white space.
constexpr bool SchemaParser::parse_class(TypeNode& type) {
  const std::size_t begin = lexer_.token().begin;
  lexer_.advance();
  do {
    if (!expect('.', "'.' and the rest of the class's name")) return false;
    if (!lexer_.adjacent() || !lexer_.at(TokenKind::Name)) return fail_expected("a name right after '.'");
    lexer_.advance();
  } while (lexer_.at('.') && lexer_.adjacent());
  type.kind = TypeKind::Class;
  type.name = span_from(begin);
  return true;
}

// (T, U, ...), as many as the type called `name` is made of.
constexpr bool SchemaParser::parse_parts(std::size_t depth, Token name, TypeNode& type) {
  if (!expect('(', "'(' and what the type is made of")) return false;
  std::size_t count = 0;
  std::uint8_t last = kNoNode;
  do {
    std::uint8_t part = kNoNode;
    if (!parse_type(depth + 1, part)) return false;
    (count++ == 0 ? type.child : tables_.nodes[last].next) = part;
    last = part;
  } while (lexer_.accept(','));
  if (!expect(')', "',' or ')' after a type")) return false;
  const bool pair = type.kind == TypeKind::Dict;
  const bool any = type.kind == TypeKind::Tuple || type.kind == TypeKind::Union;
  if (any || count == (pair ? 2 : 1)) return true;
  return fail(SchemaErrorCode::WrongNumberOfTypes, name.begin, name.end, pair ? "a key and a value" : "one type");
}

constexpr bool SchemaParser::parse_suffixes(std::size_t depth, std::uint8_t& node) {
  while (lexer_.at('[') || lexer_.at('?')) {
    if (++depth > kMaxSchemaNesting) return fail_here(SchemaErrorCode::TooDeep);
    TypeNode type;
    type.child = node;
    type.kind = lexer_.at('?') ? TypeKind::Optional : TypeKind::List;
    lexer_.advance();
    if (type.kind == TypeKind::List && !(parse_list_size(type) && parse_alias(type))) return false;
    if (!add_node(type, node)) return false;
  }
  return true;
}

// Requires: the '[' has been consumed.
constexpr bool SchemaParser::parse_list_size(TypeNode& list) {
  if (lexer_.accept(']')) return true;
  const std::string_view digits = lexer_.text();
  if (!lexer_.at(TokenKind::Number)) return fail_expected("']' or the list's size");
  const auto size = DefaultValue(digits).as_int();
  if (!size || *size < 1 || *size > 65535 || digits.front() == '0') return fail_here(SchemaErrorCode::BadListSize);
  const std::size_t begin = lexer_.token().begin;
  lexer_.advance();
  list.name = span_from(begin);
  return expect(']', "']' after the list's size");
}

// Nothing, `!`, or (a|b! -> c).
constexpr bool SchemaParser::parse_alias(TypeNode& type) {
  const bool fresh = lexer_.at('!');
  if (!fresh && !lexer_.at('(')) return true;
  type.has_alias = true;
  const std::size_t begin = lexer_.token().begin + (fresh ? 0 : 1);
  lexer_.advance();
  if (!fresh) {
    if (!parse_alias_set()) return false;
    lexer_.accept('!');
    if (lexer_.accept(TokenKind::Arrow) && !parse_alias_set()) return false;
  }
  type.alias = span_from(begin);
  return fresh || expect(')', "')' after an alias annotation");
}

constexpr bool SchemaParser::parse_alias_set() {
  std::size_t count = 0;
  do {
    if (count++ == kMaxAliasSet) return fail_here(SchemaErrorCode::TooManyAliases);
    if (!lexer_.accept('*') && !expect(TokenKind::Name, "the name of an alias set, or '*'")) return false;
  } while (lexer_.accept('|'));
  return true;
}

}  // namespace detail

constexpr ParseResult parse_schema(std::string_view text) {
  ParseResult result{text, {}, {}};
  detail::SchemaParser(result).run();
  return result;
}

}  // namespace keyway::inline v1
