#include <keyway/codegen/base/brackets.h>
#include <keyway/core/schema/lexer.h>

namespace keyway::inline v1 {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

// How many more brackets are open behind a character.
int opened(char c) {
  return std::string_view("([{").find(c) != kNone ? 1 : std::string_view(")]}").find(c) != kNone ? -1 : 0;
}

// Where to look behind a character: behind the quotes that it opens, or at the next one.
std::size_t behind(std::string_view text, std::size_t i) {
  const bool quote = text[i] == '"' || (text[i] == '\'' && (i == 0 || !detail::is_name(text[i - 1])));
  const std::size_t end = quote ? text.find(text[i], i + 1) : kNone;
  return end == kNone ? i + 1 : end + 1;
}

TextPart trimmed(std::string_view text, TextPart part) {
  while (part.begin < part.end && text[part.begin] == ' ') ++part.begin;
  while (part.end > part.begin && text[part.end - 1] == ' ') --part.end;
  return part;
}

}  // namespace

std::size_t closing_bracket(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); i = behind(text, i)) {
    depth += opened(text[i]);
    if (depth == 0) return i;
  }
  return kNone;
}

std::vector<TextPart> listed(std::string_view text, TextPart part) {
  std::vector<TextPart> parts;
  int depth = 0;
  for (std::size_t i = part.begin; i < part.end; i = behind(text, i)) {
    depth += opened(text[i]);
    if (text[i] != ',' || depth > 0) continue;
    parts.push_back(trimmed(text, {part.begin, i}));
    part.begin = i + 1;
  }
  parts.push_back(trimmed(text, part));
  return parts;
}

}  // namespace keyway::inline v1
