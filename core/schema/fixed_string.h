// FixedString: text as a template argument, f<"text">().
#pragma once

#include <cstddef>
#include <string_view>

namespace keyway::inline v1 {

template <std::size_t N>
struct FixedString {
  char chars[N]{};

  constexpr FixedString() = default;
  constexpr FixedString(const char (&text)[N]) {  // NOLINT: what makes f<"text"> work
    for (std::size_t i = 0; i < N; ++i) chars[i] = text[i];
  }

  // Without the closing NUL.
  constexpr std::string_view view() const { return {chars, N - 1}; }
};

}  // namespace keyway::inline v1
