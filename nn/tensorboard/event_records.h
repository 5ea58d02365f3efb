// Records of event files: messages of protobuf, written field by field, in the frames that TensorFlow's record files
// have. Of protobuf that is all that events need.
#pragma once

#include <keyway/core/base/array_ref.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace keyway::inline v1::nn {

// The bytes of a message. Fields of proto3 that are 0 or empty are left out, as its writers do; members of a `oneof`
// are always there (`of_oneof`). Fields are to be written in the order of their numbers.
class Message {
 public:
  Message& integer(unsigned field, std::int64_t value, bool of_oneof = false);
  Message& number(unsigned field, double value);
  Message& single(unsigned field, float value);  // always there
  Message& text(unsigned field, std::string_view value, bool of_oneof = false);
  Message& message(unsigned field, const Message& value);  // always there, empty or not
  Message& numbers(unsigned field, ArrayRef<double> values);
  Message& integers(unsigned field, ArrayRef<std::int64_t> values);

  std::string_view bytes() const { return bytes_; }

 private:
  enum class Wire : unsigned { Varint = 0, Fixed64 = 1, Length = 2, Fixed32 = 5 };
  void tag(unsigned field, Wire wire);
  void varint(std::uint64_t value);
  template <typename Word>
  void fixed(Word word);

  std::string bytes_;
};

// CRC-32C (Castagnoli).
std::uint32_t crc32c(std::string_view bytes);

// Length, its checksum, the bytes, and theirs; checksums are masked, since what is in a record may have some of its
// own.
std::string framed(std::string_view bytes);

}  // namespace keyway::inline v1::nn
