#include <keyway/core/base/error.h>
#include <keyway/nn/serialize/json_scanner.h>

#include <algorithm>

namespace keyway::inline v1::nn {

namespace {

void append_utf8(std::string& out, std::uint32_t code) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

bool is_high_surrogate(std::uint32_t code) { return code >= 0xd800 && code < 0xdc00; }
bool is_low_surrogate(std::uint32_t code) { return code >= 0xdc00 && code < 0xe000; }

// The length of the UTF-8 sequence at the start of `text`; 0 if there is none.
std::size_t utf8_sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // What is longer than it need be, a surrogate, or above U+10FFFF shows in the second byte.
  const unsigned second = byte(1);
  if ((first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90)) return 0;
  if ((first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90)) return 0;
  return length;
}

}  // namespace

std::size_t find_invalid_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = utf8_sequence(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return at;
}

std::string json_string(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.append("\\").append(1, c);
    } else if (byte < 0x20) {
      out.append("\\u00").append(1, kHex[byte >> 4]).append(1, kHex[byte & 15]);
    } else {
      out += c;
    }
  }
  return out + '"';
}

void JsonScanner::fail(const std::string& what) const { KEYWAY_FAIL(Parse, "byte {}: {}", first_byte_ + at_, what); }

void JsonScanner::skip_blanks() {
  while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
}

std::string JsonScanner::found() const {
  if (at_ >= text_.size()) return "the end";
  return std::string("'") + std::string(text_.substr(at_, utf8_sequence(text_.substr(at_)))) + "'";
}

bool JsonScanner::accept(char c) {
  skip_blanks();
  if (at_ >= text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

void JsonScanner::expect(char c) {
  if (!accept(c)) fail(std::string("expected '") + c + "' but found " + found());
}

void JsonScanner::end() {
  skip_blanks();
  if (at_ < text_.size()) fail("expected the end of the JSON text but found " + found());
}

std::string JsonScanner::string() {
  skip_blanks();
  if (at_ >= text_.size() || text_[at_] != '"') fail("expected a string but found " + found());
  ++at_;
  std::size_t end = at_;  // so that a long string takes its own memory once, and not twice as it grows
  while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
  std::string out;
  out.reserve(std::min(end, text_.size()) - at_);
  for (;;) {
    if (at_ >= text_.size()) fail("the string has no closing quote");
    const char c = text_[at_];
    if (static_cast<unsigned char>(c) < 0x20) fail("a control character stands in a string");
    ++at_;
    if (c == '"') return out;
    if (c == '\\') {
      append_escape(out);
    } else {
      out += c;
    }
  }
}

void JsonScanner::append_escape(std::string& out) {
  constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  if (at_ >= text_.size()) fail("the string has no closing quote");
  const char c = text_[at_];
  if (const std::size_t i = kLetters.find(c); i != std::string_view::npos) {
    ++at_;
    out += kMeanings[i];
    return;
  }
  if (c != 'u') fail("'\\" + std::string(1, c) + "' is no escape sequence");
  ++at_;
  std::uint32_t code = hex4();
  if (is_high_surrogate(code) && text_.substr(at_, 2) == "\\u") {
    at_ += 2;
    const std::uint32_t low = hex4();
    if (!is_low_surrogate(low)) fail("half of a surrogate pair stands alone");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  } else if (is_high_surrogate(code) || is_low_surrogate(code)) {
    fail("half of a surrogate pair stands alone");
  }
  append_utf8(out, code);
}

std::uint32_t JsonScanner::hex4() {
  std::uint32_t code = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) fail("\\u needs four hexadecimal digits");
    code = code << 4 | static_cast<std::uint32_t>(digit);
  }
  return code;
}

std::uint64_t JsonScanner::natural() {
  skip_blanks();
  const auto is_digit = [&](std::size_t i) { return i < text_.size() && text_[i] >= '0' && text_[i] <= '9'; };
  if (!is_digit(at_)) fail("expected an integer of at least 0 but found " + found());
  if (text_[at_] == '0' && is_digit(at_ + 1)) fail("a number begins with 0");
  std::uint64_t value = 0;
  for (; is_digit(at_); ++at_) {
    const auto digit = static_cast<std::uint64_t>(text_[at_] - '0');
    if (__builtin_mul_overflow(value, std::uint64_t{10}, &value) || __builtin_add_overflow(value, digit, &value)) {
      fail("an integer is above 2^64 - 1");
    }
  }
  if (at_ < text_.size() && std::string_view(".eE").find(text_[at_]) != std::string_view::npos) {
    fail("expected an integer but found a fraction or an exponent");
  }
  return value;
}

}  // namespace keyway::inline v1::nn
