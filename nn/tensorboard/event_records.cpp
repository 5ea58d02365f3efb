#include <keyway/nn/tensorboard/event_records.h>

#include <array>
#include <bit>

namespace keyway::inline v1::nn {

namespace {

// The remainder of each byte by the polynomial of Castagnoli, bits reversed.
constexpr std::array<std::uint32_t, 256> kRemainders = [] {
  std::array<std::uint32_t, 256> remainders{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1) != 0 ? 0x82f63b78u : 0u);
    remainders[byte] = rest;
  }
  return remainders;
}();

// Least significant byte first, on every machine.
template <typename Word>
void append(std::string& bytes, Word word) {
  for (std::size_t i = 0; i < sizeof(Word); ++i) bytes.push_back(static_cast<char>(word >> (8 * i) & 0xff));
}

std::uint32_t masked(std::uint32_t crc) { return std::rotr(crc, 15) + 0xa282ead8u; }

}  // namespace

void Message::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>((value & 0x7f) | 0x80));
  bytes_.push_back(static_cast<char>(value));
}

void Message::tag(unsigned field, Wire wire) { varint(field << 3 | static_cast<unsigned>(wire)); }

template <typename Word>
void Message::fixed(Word word) {
  append(bytes_, word);
}

Message& Message::integer(unsigned field, std::int64_t value, bool of_oneof) {
  if (value == 0 && !of_oneof) return *this;
  tag(field, Wire::Varint);
  varint(static_cast<std::uint64_t>(value));
  return *this;
}

Message& Message::number(unsigned field, double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  if (bits == 0) return *this;  // not for -0
  tag(field, Wire::Fixed64);
  fixed(bits);
  return *this;
}

Message& Message::single(unsigned field, float value) {
  tag(field, Wire::Fixed32);
  fixed(std::bit_cast<std::uint32_t>(value));
  return *this;
}

Message& Message::text(unsigned field, std::string_view value, bool of_oneof) {
  if (value.empty() && !of_oneof) return *this;
  tag(field, Wire::Length);
  varint(value.size());
  bytes_ += value;
  return *this;
}

Message& Message::message(unsigned field, const Message& value) { return text(field, value.bytes(), true); }

Message& Message::numbers(unsigned field, ArrayRef<double> values) {
  if (values.empty()) return *this;
  tag(field, Wire::Length);
  varint(values.size() * sizeof(double));
  for (const double value : values) fixed(std::bit_cast<std::uint64_t>(value));
  return *this;
}

Message& Message::integers(unsigned field, ArrayRef<std::int64_t> values) {
  Message packed;
  for (const std::int64_t value : values) packed.varint(static_cast<std::uint64_t>(value));
  return text(field, packed.bytes());
}

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = ~std::uint32_t{0};
  for (const char byte : bytes) crc = kRemainders[(crc ^ static_cast<unsigned char>(byte)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

std::string framed(std::string_view bytes) {
  std::string record;
  record.reserve(bytes.size() + 16);
  append(record, std::uint64_t{bytes.size()});
  append(record, masked(crc32c(record)));
  record += bytes;
  append(record, masked(crc32c(bytes)));
  return record;
}

}  // namespace keyway::inline v1::nn
