#include <keyway/core/base/error.h>
#include <keyway/onnx/import/format/message.h>

#include <bit>
#include <cstring>

namespace keyway::inline v1::onnx {

namespace {

template <typename Word>
Word take_fixed(std::string_view& rest) {
  KEYWAY_CHECK_AS(Parse, rest.size() >= sizeof(Word), "this is no ONNX model: a number of {} bytes is cut off",
                  sizeof(Word));
  Word word;
  std::memcpy(&word, rest.data(), sizeof(Word));
  rest.remove_prefix(sizeof(Word));
  return word;
}

// How many bytes a character takes that begins with this one; 0 if none does.
std::size_t utf8_length(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

}  // namespace

std::uint64_t take_varint(std::string_view& rest) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    KEYWAY_CHECK_AS(Parse, !rest.empty(), "this is no ONNX model: a number is cut off");
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  KEYWAY_FAIL(Parse, "this is no ONNX model: a number has more than 64 bits");
}

bool Message::next(Field& field) {
  if (rest_.empty()) return false;
  const std::uint64_t tag = take_varint(rest_);
  field.number = static_cast<unsigned>(tag >> 3);
  KEYWAY_CHECK_AS(Parse, tag >> 3 != 0 && tag >> 3 < (1U << 29), "this is no ONNX model: a field has the number {}",
                  tag >> 3);
  switch (tag & 7) {
    case 0: field.value = take_varint(rest_); break;
    case 1: field.value = take_fixed<std::uint64_t>(rest_); break;
    case 5: field.value = take_fixed<std::uint32_t>(rest_); break;
    case 2: {
      const std::uint64_t length = take_varint(rest_);
      KEYWAY_CHECK_AS(Parse, length <= rest_.size(),
                      "this is no ONNX model, or a part of one: a field has {} bytes, of which {} are there", length,
                      rest_.size());
      field.bytes = rest_.substr(0, static_cast<std::size_t>(length));
      rest_.remove_prefix(static_cast<std::size_t>(length));
      break;
    }
    default: KEYWAY_FAIL(Parse, "this is no ONNX model: a field is of the wire type {}", tag & 7);
  }
  field.wire = static_cast<Field::Wire>(tag & 7);
  return true;
}

std::int64_t Field::integer() const {
  KEYWAY_CHECK_AS(Parse, wire == Wire::Varint, "this is no ONNX model: field {} is no integer", number);
  return static_cast<std::int64_t>(value);
}

float Field::single() const {
  KEYWAY_CHECK_AS(Parse, wire == Wire::Fixed32, "this is no ONNX model: field {} is no number of 32 bits", number);
  return std::bit_cast<float>(static_cast<std::uint32_t>(value));
}

std::string_view Field::content() const {
  KEYWAY_CHECK_AS(Parse, wire == Wire::Bytes, "this is no ONNX model: field {} has no bytes", number);
  return bytes;
}

std::string_view Field::text() const {
  KEYWAY_CHECK_AS(Parse, is_utf8(content()), "this is no ONNX model: a name is not UTF-8");
  return bytes;
}

std::string_view shown(std::string_view text) {
  constexpr std::size_t kMost = 80;
  if (text.size() <= kMost) return text;
  std::size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // not within a character
  return text.substr(0, end);
}

bool is_utf8(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const auto first = static_cast<unsigned char>(bytes[at]);
    const std::size_t length = utf8_length(first);
    if (length == 0 || length > bytes.size() - at) return false;
    for (std::size_t i = 1; i < length; ++i) {
      if ((static_cast<unsigned char>(bytes[at + i]) & 0xc0) != 0x80) return false;
    }
    const auto second = length > 1 ? static_cast<unsigned char>(bytes[at + 1]) : 0U;
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)) return false;
    if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) return false;
    at += length;
  }
  return true;
}

}  // namespace keyway::inline v1::onnx
