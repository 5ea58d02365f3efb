// A pretty-printing document: text with marked break points, laid out at 120 columns. What fits stays on one line.
// Otherwise items are filled line by line, aligned behind the opening bracket or indented by four below it, whichever
// costs fewer breaks; a break one level deeper costs three times as much.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

inline constexpr std::size_t kMaxColumns = 120;

// What stands between two items of a run: in one line, and where the line ends at it.
struct Glue {
  std::string flat;    // ", "
  std::string before;  // ",": the end of a line
  std::string after;   // what the next line begins with
  std::size_t indent;  // columns that further lines begin behind the first
};

class Doc {
 public:
  // A text without a place to break.
  Doc() = default;
  Doc(std::string text) : text_(std::move(text)), width_(text_.size()) {}  // NOLINT
  Doc(std::string_view text) : Doc(std::string(text)) {}                   // NOLINT
  Doc(const char* text) : Doc(std::string(text)) {}                        // NOLINT

  // One after the other.
  friend Doc operator+(Doc left, Doc right);

  // Brackets with items that commas separate: list("f(", {"a", "b"}, ")").
  static Doc list(std::string_view open, std::vector<Doc> items, std::string_view close);
  template <std::same_as<std::string> Text>
  static Doc list(std::string_view open, const std::vector<Text>& items, std::string_view close) {
    return list(open, std::vector<Doc>(items.begin(), items.end()), close);
  }
  // The same with a line for each item.
  static Doc rows(std::string_view open, std::vector<Doc> items, std::string_view close);
  // Brackets whose items, where they do not fit in one line, never begin behind the bracket.
  static Doc below(Doc brackets);
  // Operands with an operator between them, which a line may end with. Those of the same operator go on in one run.
  static Doc infix(Doc left, std::string_view op, Doc right);
  // name = value, where a line may end behind the equals sign.
  static Doc assignment(std::string_view name, Doc value);
  // condition ? yes : no, in one line or in three.
  static Doc choice(Doc condition, Doc yes, Doc no);
  // The `if` of a condition, to its end: ")", ") [[unlikely]] {".
  static Doc conditional(Doc condition, std::string_view end);
  // The same and a statement, which may stand in the next line.
  static Doc conditional(Doc condition, std::string_view end, Doc statement);
  // A string literal, in several pieces if need be, which begin below the first one or `indent` columns further in.
  static Doc literal(std::string_view text, std::size_t indent = 0);

  bool empty() const { return width_ == 0; }
  // In one line, however long.
  std::string flat() const;
  // Whether a line that is indented by `indent` is long enough for it.
  bool fits(std::size_t indent) const { return indent + width_ <= kMaxColumns; }
  // In lines that are indented by `indent`, with the newline of the last.
  std::string lines(std::size_t indent = 0) const;

 private:
  friend class DocPrinter;
  enum class Kind { Text, Sequence, Run, Brackets };

  Doc(Kind kind, std::vector<Doc> parts, Glue glue = {});

  Kind kind_ = Kind::Text;
  std::string text_;  // of brackets the one that opens
  std::string close_;
  bool only_below_ = false;
  Glue glue_;
  bool ends_lines_ = false;  // a run with a line for each item, unless all are in one
  std::vector<Doc> parts_;
  std::size_t width_ = 0;  // in one line; kNoWidth and more where there must be several
};

// The text of a string literal without a place to break.
std::string cpp_string(std::string_view text);

}  // namespace keyway::inline v1
