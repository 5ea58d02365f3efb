#include <keyway/tools/op_examples/literal.h>

#include <cctype>
#include <cmath>
#include <stdexcept>

namespace keyway::inline v1::tools {

namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  ExampleText example() {
    ExampleText result;
    result.call = value();
    if (accept(".")) {
      result.method = name().text;  // read as a call without arguments
    }
    if (accept("==")) {
      result.has_value = true;
      result.value = value();
    }
    skip();
    if (at_ != text_.size()) fail("text is left over");
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw std::runtime_error(why + " at " + std::to_string(at_) + " in " + std::string(text_));
  }
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(std::string_view token) {
    skip();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail("expected " + std::string(token));
  }

  // A name, or nothing.
  std::string word() {
    skip();
    const std::size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    return std::string(text_.substr(start, at_ - start));
  }

  Literal value() {
    const char c = peek();
    if (c == '[') return sequence("[", "]", Literal::Kind::List);
    if (c == '(') return sequence("(", ")", Literal::Kind::Tuple);
    if (c == '\'' || c == '"') return string(c);
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.') return number();
    return name();
  }

  Literal sequence(std::string_view open, std::string_view close, Literal::Kind kind) {
    Literal list;
    list.kind = kind;
    expect(open);
    while (!accept(close)) {
      list.items.push_back(value());
      if (!accept(",")) {
        expect(close);
        break;
      }
    }
    return list;
  }

  Literal string(char quote) {
    Literal result;
    result.kind = Literal::Kind::Text;
    ++at_;
    while (at_ < text_.size() && text_[at_] != quote) result.text += text_[at_++];
    expect(std::string_view(&quote, 1));
    return result;
  }

  Literal number() {
    if (accept("-")) {
      Literal negative = value();
      negative.number = -negative.number;
      negative.integer = -negative.integer;
      return negative;
    }
    Literal result;
    const std::size_t first = at_;
    bool floating = false;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool sign = (c == '+' || c == '-') && (text_[at_ - 1] == 'e');
      if (std::isdigit(static_cast<unsigned char>(c)) == 0 && c != '.' && c != 'e' && !sign) break;
      floating = floating || c == '.' || c == 'e';
      ++at_;
    }
    const std::string digits(text_.substr(first, at_ - first));
    result.kind = floating ? Literal::Kind::Float : Literal::Kind::Int;
    result.number = std::stod(digits);
    if (!floating) result.integer = std::stoll(digits);
    return result;
  }

  Literal name() {
    Literal result;
    result.text = word();
    if (result.text.empty()) fail("expected a value");
    if (accept("(")) return call(std::move(result));
    if (result.text == "True" || result.text == "False") {
      result.kind = Literal::Kind::Bool;
      result.number = result.text == "True" ? 1 : 0;
      result.integer = result.text == "True" ? 1 : 0;
    } else if (result.text == "inf" || result.text == "nan") {
      result.kind = Literal::Kind::Float;
      result.number = result.text == "inf" ? INFINITY : NAN;
    } else if (result.text != "None") {
      result.kind = Literal::Kind::Name;
    }
    return result;
  }

  Literal call(Literal result) {
    result.kind = Literal::Kind::Call;
    while (!accept(")")) {
      const std::size_t start = at_;
      const std::string keyword = word();
      if (!keyword.empty() && text_.substr(at_, 1) == "=" && text_.substr(at_, 2) != "==") {
        ++at_;
        result.keywords.push_back({keyword, value()});
      } else {
        at_ = start;
        result.items.push_back(value());
      }
      if (!accept(",")) {
        expect(")");
        break;
      }
    }
    return result;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

ExampleText parse_example(std::string_view text) { return Parser(text).example(); }

}  // namespace keyway::inline v1::tools
