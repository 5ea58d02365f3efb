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
