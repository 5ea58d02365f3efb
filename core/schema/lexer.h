// The tokens of the schema language.
#pragma once

#include <keyway/core/schema/constexpr_text.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace keyway::inline v1::detail {

enum class TokenKind : std::uint8_t {
  End,
  Name,       // letters, digits and `_`, not beginning with a digit
  Number,     // 1, -0.5, 1e-05, 2j, -inf
  String,     // in single or double quotes, on one line
  Arrow,      // ->
  Dots,       // ...
  Colons,     // ::
  Other,      // one character
  BadNumber,  // digits that run on into something else
  BadString,  // no closing quote
};

struct Token {
  TokenKind kind = TokenKind::End;
  std::size_t begin = 0;
  std::size_t end = 0;
};

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool is_name(char c) { return is_name_start(c) || is_digit(c); }

// Holds one token of look-ahead.
class Lexer {
 public:
  constexpr explicit Lexer(std::string_view text) : text_(text) { scan(); }

  constexpr const Token& token() const { return token_; }
  constexpr std::string_view text() const { return text_.substr(token_.begin, token_.end - token_.begin); }
  constexpr bool at(TokenKind kind) const { return token_.kind == kind; }
  constexpr bool at(char c) const { return token_.kind == TokenKind::Other && text_[token_.begin] == c; }
  // Where the last consumed token ended.
  constexpr std::size_t previous_end() const { return previous_end_; }
  // Whether no white space stands before the token.
  constexpr bool adjacent() const { return token_.begin == previous_end_; }

  constexpr void advance() {
    previous_end_ = token_.end;
    scan();
  }
  constexpr bool accept(TokenKind kind) {
    if (!at(kind)) return false;
    advance();
    return true;
  }
  constexpr bool accept(char c) {
    if (!at(c)) return false;
    advance();
    return true;
  }

 private:
  // The character `ahead` of `from`; NUL behind the end.
  constexpr char peek(std::size_t from, std::size_t ahead = 0) const {
    return from + ahead < text_.size() ? text_[from + ahead] : '\0';
  }
  constexpr void take(TokenKind kind, std::size_t end) {
    token_.kind = kind;
    token_.end = end;
  }
  constexpr void scan();
  constexpr void scan_name();
  constexpr void scan_number();
  constexpr void scan_string();
  constexpr std::size_t skip_digits(std::size_t at) const {
    while (is_digit(peek(at))) ++at;
    return at;
  }

  std::string_view text_;
  Token token_;
  std::size_t previous_end_ = 0;
};

constexpr void Lexer::scan() {
  std::size_t at = token_.end;
  while (is_space(peek(at))) ++at;
  token_.begin = at;
  const char c = peek(at);
  const char next = peek(at, 1);
  const bool fraction = c == '.' && is_digit(next);
  const bool negative = c == '-' && (is_digit(next) || next == '.' || next == 'i');
  if (at >= text_.size()) return take(TokenKind::End, at);
  if (is_name_start(c)) return scan_name();
  if (is_digit(c) || fraction || negative) return scan_number();
  if (c == '"' || c == '\'') return scan_string();
  if (c == '-' && next == '>') return take(TokenKind::Arrow, at + 2);
  if (c == ':' && next == ':') return take(TokenKind::Colons, at + 2);
  if (c == '.' && next == '.' && peek(at, 2) == '.') return take(TokenKind::Dots, at + 3);
  take(TokenKind::Other, at + 1);
}

constexpr void Lexer::scan_name() {
  std::size_t at = token_.begin;
  while (is_name(peek(at))) ++at;
  take(TokenKind::Name, at);
}

constexpr void Lexer::scan_number() {
  std::size_t at = token_.begin + (peek(token_.begin) == '-' ? 1 : 0);
  bool good = true;
  if (text_.substr(at, 3) == "inf") {
    at += 3;
  } else {
    const std::size_t digits = at;
    at = skip_digits(at);
    std::size_t count = at - digits;
    if (peek(at) == '.') {
      const std::size_t end = skip_digits(at + 1);
      count += end - at - 1;
      at = end;
    }
    good = count > 0;
    if (peek(at) == 'e' || peek(at) == 'E') {
      const std::size_t exponent = at + (peek(at, 1) == '-' || peek(at, 1) == '+' ? 2 : 1);
      at = skip_digits(exponent);
      good = good && at > exponent;
    }
    if (peek(at) == 'j') ++at;
  }
  for (; is_name(peek(at)); ++at) good = false;
  take(good ? TokenKind::Number : TokenKind::BadNumber, at);
}

constexpr void Lexer::scan_string() {
  const char quote = text_[token_.begin];
  for (std::size_t at = token_.begin + 1; at < text_.size() && text_[at] != '\n'; ++at) {
    if (text_[at] == quote) return take(TokenKind::String, at + 1);
    if (text_[at] == '\\' && peek(at, 1) != '\n') ++at;
  }
  take(TokenKind::BadString, text_.size());
}

}  // namespace keyway::inline v1::detail
