// ProtoMessage: the bytes of a protobuf message, written field by field. It needs no description of messages.
#pragma once

#include <keyway/core/base/array_ref.h>
#include <keyway/core/base/macros.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace keyway::inline v1 {

// Fields of proto3 that are 0 or empty are left out, as its writers do; members of a `oneof` and elements of repeated
// fields are always there (`is_kept`). Fields are to be written in the order of their numbers.
class KEYWAY_API ProtoMessage {
 public:
  ProtoMessage& integer(unsigned field, std::int64_t value, bool is_kept = false);
  ProtoMessage& number(unsigned field, double value);
  ProtoMessage& single(unsigned field, float value);  // always there
  ProtoMessage& text(unsigned field, std::string_view value, bool is_kept = false);
  ProtoMessage& message(unsigned field, const ProtoMessage& value);  // always there, empty or not
  ProtoMessage& numbers(unsigned field, ArrayRef<double> values);
  ProtoMessage& integers(unsigned field, ArrayRef<std::int64_t> values);

  std::string_view bytes() const { return bytes_; }
  std::string str() const { return bytes_; }
  std::string take() && { return std::move(bytes_); }

 private:
  enum class Wire : unsigned { Varint = 0, Fixed64 = 1, Length = 2, Fixed32 = 5 };
  void tag(unsigned field, Wire wire);
  void varint(std::uint64_t value);
  template <typename Word>
  void fixed(Word word);

  std::string bytes_;
};

}  // namespace keyway::inline v1
