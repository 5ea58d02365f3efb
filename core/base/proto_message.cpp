#include <keyway/core/base/proto_message.h>

#include <bit>

namespace keyway::inline v1 {

void ProtoMessage::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>((value & 0x7f) | 0x80));
  bytes_.push_back(static_cast<char>(value));
}

void ProtoMessage::tag(unsigned field, Wire wire) { varint(field << 3 | static_cast<unsigned>(wire)); }

// Least significant byte first, on every machine.
template <typename Word>
void ProtoMessage::fixed(Word word) {
  for (std::size_t i = 0; i < sizeof(Word); ++i) bytes_.push_back(static_cast<char>(word >> (8 * i) & 0xff));
}

ProtoMessage& ProtoMessage::integer(unsigned field, std::int64_t value, bool is_kept) {
  if (value == 0 && !is_kept) return *this;
  tag(field, Wire::Varint);
  varint(static_cast<std::uint64_t>(value));
  return *this;
}

ProtoMessage& ProtoMessage::number(unsigned field, double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  if (bits == 0) return *this;  // not for -0
  tag(field, Wire::Fixed64);
  fixed(bits);
  return *this;
}

ProtoMessage& ProtoMessage::single(unsigned field, float value) {
  tag(field, Wire::Fixed32);
  fixed(std::bit_cast<std::uint32_t>(value));
  return *this;
}

ProtoMessage& ProtoMessage::text(unsigned field, std::string_view value, bool is_kept) {
  if (value.empty() && !is_kept) return *this;
  tag(field, Wire::Length);
  varint(value.size());
  bytes_ += value;
  return *this;
}

ProtoMessage& ProtoMessage::message(unsigned field, const ProtoMessage& value) {
  return text(field, value.bytes(), true);
}

ProtoMessage& ProtoMessage::numbers(unsigned field, ArrayRef<double> values) {
  if (values.empty()) return *this;
  tag(field, Wire::Length);
  varint(values.size() * sizeof(double));
  for (const double value : values) fixed(std::bit_cast<std::uint64_t>(value));
  return *this;
}

ProtoMessage& ProtoMessage::integers(unsigned field, ArrayRef<std::int64_t> values) {
  ProtoMessage packed;
  for (const std::int64_t value : values) packed.varint(static_cast<std::uint64_t>(value));
  return text(field, packed.bytes());
}

}  // namespace keyway::inline v1
