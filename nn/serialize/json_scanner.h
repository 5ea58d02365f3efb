// JsonScanner: strict JSON, read in the shape that the caller expects. It never recurses by itself, so that no text
// can nest deeper than the caller's format does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace keyway::inline v1::nn {

// Each function reads one piece behind any white space, or throws keyway::Error(Parse) with the byte where it stands,
// counted from `first_byte`. Requires: `text` is valid UTF-8 and outlives the scanner.
class JsonScanner {
 public:
  JsonScanner(std::string_view text, std::size_t first_byte) : text_(text), first_byte_(first_byte) {}

  // Calls member(key) for each member of an object; it reads the value.
  template <typename F>
  void object(F&& member) {
    expect('{');
    if (accept('}')) return;
    do {
      const std::string key = string();
      expect(':');
      member(key);
    } while (accept(','));
    expect('}');
  }

  // Calls element() for each element of an array; it reads the element.
  template <typename F>
  void array(F&& element) {
    expect('[');
    if (accept(']')) return;
    do {
      element();
    } while (accept(','));
    expect(']');
  }

  std::string string();
  // An integer of at least 0 and below 2^64.
  std::uint64_t natural();
  // Nothing but white space may follow.
  void end();

  [[noreturn]] void fail(const std::string& what) const;

 private:
  void skip_blanks();
  bool accept(char c);
  void expect(char c);
  // What stands at the current position, for errors.
  std::string found() const;
  void append_escape(std::string& out);
  std::uint32_t hex4();

  std::string_view text_;
  std::size_t first_byte_;
  std::size_t at_ = 0;
};

// Where the first byte stands that is no part of valid UTF-8; text.size() if all are.
std::size_t find_invalid_utf8(std::string_view text);

// `text` as a JSON string, with its quotes. Requires: valid UTF-8.
std::string json_string(std::string_view text);

}  // namespace keyway::inline v1::nn
