// Literal: a parsed example of a schema entry, `add([1, 2], [10, 20], alpha=2) == [21, 42]`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1::tools {

struct Literal {
  enum class Kind { None, Bool, Int, Float, Text, Name, List, Tuple, Call };
  Kind kind = Kind::None;
  double number = 0;           // of Bool, Int and Float
  long long integer = 0;       // of Bool and Int
  std::string text;            // of Text and Name; a Call's function
  std::vector<Literal> items;  // of List, Tuple; a Call's positional arguments
  struct Keyword;
  std::vector<Keyword> keywords;  // of a Call
};

// Not std::pair, whose instantiation by clang needs a Literal that is complete.
struct Literal::Keyword {
  std::string name;
  Literal value;
};

struct ExampleText {
  Literal call;
  std::string method;  // asked of the result: sizes, strides; empty for the result itself
  Literal value;
  bool has_value = false;
};

// Throws std::runtime_error with the place for what the language of examples does not have.
ExampleText parse_example(std::string_view text);

}  // namespace keyway::inline v1::tools
