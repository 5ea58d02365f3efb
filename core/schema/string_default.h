// The text of a string in a schema: what its escape sequences stand for.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace keyway::inline v1 {

namespace detail {

constexpr std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

// Takes one character from the front of what stands between the quotes: itself, or what its escape sequence, one of
// Python's, stands for. Nothing if that is none. Requires: `rest` is not empty.
constexpr std::optional<char> next_character(std::string_view& rest) {
  const char c = rest.front();
  rest.remove_prefix(1);
  if (c != '\\') return c;
  if (rest.empty()) return std::nullopt;
  const char escape = rest.front();
  rest.remove_prefix(1);
  constexpr std::string_view kEscapes = "\\\\''\"\"a\ab\bf\fn\nr\rt\tv\v";  // each before what it stands for
  for (std::size_t i = 0; i < kEscapes.size(); i += 2) {
    if (kEscapes[i] == escape) return kEscapes[i + 1];
  }
  if (escape != 'x' || rest.size() < 2 || !hex_digit(rest[0]) || !hex_digit(rest[1])) return std::nullopt;
  const int code = *hex_digit(rest[0]) * 16 + *hex_digit(rest[1]);
  rest.remove_prefix(2);
  return static_cast<char>(code);
}

}  // namespace detail

// The string whose text between the quotes is `text`. Requires: it is one of a schema that the parser accepted.
inline std::string string_of_default(std::string_view text) {
  std::string out;
  while (!text.empty()) out += *detail::next_character(text);
  return out;
}

}  // namespace keyway::inline v1
