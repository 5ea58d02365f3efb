// Colours, where the output is a terminal and the user has not set NO_COLOR.
#pragma once

#include <cstdio>
#include <string_view>

namespace keyway::inline v1::tools {

enum class Colour { Plain, Red, Bold };

bool is_terminal(std::FILE* file);

// The escape sequences of one output: empty texts where it shows no colours.
class Colours {
 public:
  explicit Colours(std::FILE* output);

  std::string_view operator()(Colour colour) const;

 private:
  bool on_;
};

}  // namespace keyway::inline v1::tools
