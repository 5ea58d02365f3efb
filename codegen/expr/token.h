// Tokens of the expression language.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

enum class TokenKind : std::uint8_t {
  End,
  Name,
  Integer,
  Real,
  String,  // text without its quotes
  Symbol,  // an operator or bracket: ( ) [ ] { } , . : ? = + - * / % ! | < > <= >= == != && ||
};

struct Token {
  TokenKind kind;
  std::string_view text;
  std::size_t offset;
};

// The tokens of `text`, closed by an End. Throws ExprError. The tokens point into `text`.
std::vector<Token> tokenize(std::string_view text);

}  // namespace keyway::inline v1
