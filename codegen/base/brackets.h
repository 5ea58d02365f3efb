// Texts with brackets: where they close, and what is listed in them. What stands in quotes is neither bracket nor
// comma; an apostrophe behind a letter begins none.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

struct TextPart {
  std::size_t begin;
  std::size_t end;

  std::string_view of(std::string_view text) const { return text.substr(begin, end - begin); }
};

// Where the bracket that opens at `open` closes, or npos.
std::size_t closing_bracket(std::string_view text, std::size_t open);

// What stands between the commas of a part that are in no bracket, without the blanks around it.
std::vector<TextPart> listed(std::string_view text, TextPart part);

}  // namespace keyway::inline v1
