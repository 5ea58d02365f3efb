#include <keyway/core/base/error.h>
#include <keyway/graph/formula.h>
#include <keyway/graph/value_text.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace keyway::inline v1::graph {
namespace {

constexpr int kMaxDepth = 32;  // of parentheses

// The results of operations, which 64 bits have to hold.
void check_holds(bool overflows) {
  if (overflows) KEYWAY_FAIL(Parse, "a formula exceeds 64 bits");
}
std::int64_t sum_of(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  check_holds(__builtin_add_overflow(a, b, &result));
  return result;
}
std::int64_t difference_of(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  check_holds(__builtin_sub_overflow(a, b, &result));
  return result;
}
std::int64_t product_of(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  check_holds(__builtin_mul_overflow(a, b, &result));
  return result;
}

class FormulaReader {
 public:
  FormulaReader(detail::Lexer& lexer, const Dimensions& dimensions) : lexer_(lexer), dimensions_(dimensions) {}

  std::int64_t sum() {
    std::int64_t value = product();
    for (;;) {
      if (lexer_.accept('+'))
        value = sum_of(value, product());
      else if (lexer_.accept('-'))
        value = difference_of(value, product());
      else
        return value;
    }
  }

 private:
  std::int64_t product() {
    std::int64_t value = factor();
    for (;;) {
      if (lexer_.accept('*')) {
        value = product_of(value, factor());
      } else if (lexer_.accept('/')) {
        if (!lexer_.at('/') || !lexer_.adjacent()) KEYWAY_FAIL(Parse, "'//' divides, not '/'");
        lexer_.advance();
        value = quotient(value);
      } else {
        return value;
      }
    }
  }

  std::int64_t quotient(std::int64_t value) {
    const std::int64_t divisor = integer();
    if (divisor <= 0) KEYWAY_FAIL(Parse, "a formula divides by {}, which is not positive", divisor);
    return value / divisor - (value % divisor < 0 ? 1 : 0);
  }

  std::int64_t factor() {
    if (lexer_.at('(')) {
      if (++depth_ > kMaxDepth) KEYWAY_FAIL(Parse, "a formula has more than {} parentheses within others", kMaxDepth);
      lexer_.advance();
      const std::int64_t value = sum();
      expect(lexer_, ')');
      --depth_;
      return value;
    }
    if (!lexer_.at(detail::TokenKind::Name)) return integer();
    const auto found_size = dimensions_.find(lexer_.text());
    if (found_size == dimensions_.end()) KEYWAY_FAIL(Parse, "no dimension has the name '{}'", lexer_.text());
    lexer_.advance();
    return found_size->second;
  }

  std::int64_t integer() {
    const std::string_view text = lexer_.text();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error == std::errc::invalid_argument)
      KEYWAY_FAIL(Parse, "an integer is missing before {}", found(lexer_));
    if (error != std::errc() || end != text.data() + text.size())
      KEYWAY_FAIL(Parse, "{} is no integer of 64 bits", found(lexer_));
    lexer_.advance();
    return value;
  }

  detail::Lexer& lexer_;
  const Dimensions& dimensions_;
  int depth_ = 0;
};

}  // namespace

std::int64_t parse_formula(detail::Lexer& lexer, const Dimensions& dimensions) {
  return FormulaReader(lexer, dimensions).sum();
}

std::int64_t evaluate(std::string_view formula, const Dimensions& dimensions) {
  detail::Lexer lexer(formula);
  const std::int64_t value = parse_formula(lexer, dimensions);
  if (!lexer.at(detail::TokenKind::End)) KEYWAY_FAIL(Parse, "there is {} behind a formula", found(lexer));
  return value;
}

std::vector<std::string> names_in(std::string_view formula) {
  std::vector<std::string> names;
  for (detail::Lexer lexer(formula); !lexer.at(detail::TokenKind::End); lexer.advance()) {
    if (!lexer.at(detail::TokenKind::Name)) continue;
    std::string name(lexer.text());
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

bool solve(std::string_view formula, std::int64_t value, Dimensions& dimensions) {
  std::optional<std::string> unknown;
  for (std::string& name : names_in(formula)) {
    if (dimensions.contains(name)) continue;
    if (unknown) return false;
    unknown = std::move(name);
  }
  if (unknown) {  // in a formula slope * name + at_0; of another one the value below is another
    std::int64_t& size = dimensions[*unknown];
    const std::int64_t at_0 = evaluate(formula, dimensions);
    size = 1;
    const std::int64_t slope = difference_of(evaluate(formula, dimensions), at_0);
    if (slope == 0) return false;
    const std::int64_t rise = difference_of(value, at_0);
    size = slope == -1 ? difference_of(0, rise) : rise / slope;
    if (size < 0) return false;
  }
  return evaluate(formula, dimensions) == value;
}

}  // namespace keyway::inline v1::graph
