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

namespace detail {

template <std::size_t N>
struct FixedBuffer : FixedString<N> {
  constexpr void append(std::string_view text) {
    for (const char c : text) this->chars[size++] = c;
  }
  std::size_t size = 0;
};
struct TextLength {
  constexpr void append(std::string_view text) { size += text.size(); }
  std::size_t size = 0;
};

}  // namespace detail

// What Writer::write(sink) appends, as a constant of just its length: g++ and clang show the text of a template
// argument in their errors.
template <typename Writer>
constexpr auto fixed_text() {
  constexpr std::size_t kSize = [] {
    detail::TextLength length;
    Writer::write(length);
    return length.size;
  }();
  detail::FixedBuffer<kSize + 1> buffer;
  Writer::write(buffer);
  return static_cast<FixedString<kSize + 1>>(buffer);
}

}  // namespace keyway::inline v1
