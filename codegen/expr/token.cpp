#include <keyway/codegen/base/names.h>
#include <keyway/codegen/expr/expr_error.h>
#include <keyway/codegen/expr/token.h>
#include <keyway/core/schema/lexer.h>

#include <algorithm>
#include <iterator>

namespace keyway::inline v1 {
namespace {

// Two-byte symbols first: the longest one is meant.
constexpr std::string_view kSymbols[] = {"<=", ">=", "==", "!=", "&&", "||", "(", ")", "[", "]", "{", "}", ",",
                                         ".",  ":",  "?",  "=",  "+",  "-",  "*", "/", "%", "!", "|", "<", ">"};

using detail::is_digit;
using detail::is_name;

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token next() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (at_ == text_.size()) return take(TokenKind::End, 0);
    const char c = text_[at_];
    if (is_digit(c)) return number();
    if (is_name(c)) return take(TokenKind::Name, span(is_name, at_) - at_);
    if (c == '\'' || c == '"') return string(c);
    const auto rest = text_.substr(at_);
    const auto* symbol = std::ranges::find_if(kSymbols, [&](auto s) { return rest.substr(0, s.size()) == s; });
    if (symbol == std::end(kSymbols))
      throw ExprError(at_, "unexpected character {}", in_quotes(rest.substr(0, character_size(c))));
    return take(TokenKind::Symbol, symbol->size());
  }

 private:
  Token take(TokenKind kind, std::size_t size) {
    const Token token{kind, text_.substr(at_, size), at_};
    at_ += size;
    return token;
  }

  // The end of the run of characters from `from` on for which `fits` holds.
  std::size_t span(bool (*fits)(char), std::size_t from) const {
    while (from < text_.size() && fits(text_[from])) ++from;
    return from;
  }

  Token number() {
    std::size_t end = span(is_digit, at_);
    const std::size_t integer_end = end;
    if (end + 1 < text_.size() && text_[end] == '.' && is_digit(text_[end + 1])) end = span(is_digit, end + 1);
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      std::size_t digits = end + 1;
      if (digits < text_.size() && (text_[digits] == '+' || text_[digits] == '-')) ++digits;
      const std::size_t exponent_end = span(is_digit, digits);
      if (exponent_end > digits) end = exponent_end;
    }
    if (end < text_.size() && is_name(text_[end]))
      throw ExprError(at_, "{} is no number", in_quotes(text_.substr(at_, span(is_name, end) - at_)));
    return take(end == integer_end ? TokenKind::Integer : TokenKind::Real, end - at_);
  }

  Token string(char quote) {
    const std::size_t end = text_.find_first_of(std::string_view(quote == '"' ? "\"\\" : "'\\"), at_ + 1);
    if (end == std::string_view::npos) throw ExprError(at_, "this string has no closing quote");
    if (text_[end] == '\\') throw ExprError(end, "a string has no escapes here");
    for (std::size_t i = at_; i < end; ++i)
      if (is_control(text_[i])) throw ExprError(i, "a string has no control characters here");
    Token token{TokenKind::String, text_.substr(at_ + 1, end - at_ - 1), at_};
    at_ = end + 1;
    return token;
  }

  static std::size_t character_size(char first) {
    const auto byte = static_cast<unsigned char>(first);
    return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text) {
  std::vector<Token> tokens;
  Lexer lexer(text);
  do {
    tokens.push_back(lexer.next());
  } while (tokens.back().kind != TokenKind::End);
  return tokens;
}

}  // namespace keyway::inline v1
