// Colours, where the output is a terminal and the user has not set NO_COLOR.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace keyway::inline v1::tools {

enum class Colour { Red, Bold };

bool is_terminal(std::FILE* file);

// The colours of one output.
class Colours {
 public:
  explicit Colours(std::FILE* output);

  // The text between the escape sequences of the colour and of none; alone where the output shows no colours.
  std::string operator()(Colour colour, std::string_view text) const;

 private:
  bool on_;
};

}  // namespace keyway::inline v1::tools
