// Message: the bytes of a protobuf message, field by field. Nothing is copied: what a field holds lies in the bytes.
#pragma once

#include <cstdint>
#include <string_view>

namespace keyway::inline v1::onnx {

struct Field {
  enum class Wire : std::uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };
  unsigned number = 0;
  Wire wire = Wire::Varint;
  std::uint64_t value = 0;  // of Varint, Fixed64 and Fixed32
  std::string_view bytes;   // of Bytes

  // Their value as the message's type has it. Throw keyway::Error(Parse) if the field is written as another type.
  std::int64_t integer() const;
  float single() const;
  std::string_view content() const;
  // The same, if it is UTF-8.
  std::string_view text() const;
};

class Message {
 public:
  explicit Message(std::string_view bytes) : rest_(bytes) {}
  // The next field; false at the end. Throws keyway::Error(Parse) for what is no field.
  bool next(Field& field);

 private:
  std::string_view rest_;
};

// The first bytes of `rest` as a number of 7 bits a byte, which are taken away.
std::uint64_t take_varint(std::string_view& rest);

// A text of a file for an error: not too long.
std::string_view shown(std::string_view text);

// Whether the bytes are UTF-8 as Unicode has it: the shortest form, no surrogates, up to U+10FFFF.
bool is_utf8(std::string_view bytes);

}  // namespace keyway::inline v1::onnx
