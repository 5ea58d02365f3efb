// Searching text at compile time. std::string_view::find compares pointers with null, which g++ 12 refuses in
// constant expressions under -fsanitize=undefined where the text is a template argument.
#pragma once

#include <cstddef>
#include <string_view>

namespace keyway::inline v1::detail {

// The first position of `c`, or npos.
constexpr std::size_t find(std::string_view text, char c) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == c) return i;
  }
  return std::string_view::npos;
}

constexpr bool contains(std::string_view text, char c) { return find(text, c) != std::string_view::npos; }

constexpr bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

constexpr std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace keyway::inline v1::detail
