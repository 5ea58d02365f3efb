// Element types without arithmetic: quantised numbers, which mean something only with a scale, and bit
// fields.
#pragma once

#include <compare>
#include <cstdint>

namespace keyway::inline v1 {

// One quantised number.
struct qint8 {
  std::int8_t value;
  friend constexpr auto operator<=>(qint8, qint8) = default;
};
struct quint8 {
  std::uint8_t value;
  friend constexpr auto operator<=>(quint8, quint8) = default;
};
struct qint32 {
  std::int32_t value;
  friend constexpr auto operator<=>(qint32, qint32) = default;
};

// A byte of two 4-bit, or of four 2-bit, quantised numbers; the first lies in the low bits.
struct quint4x2 {
  std::uint8_t value;
  friend constexpr bool operator==(quint4x2, quint4x2) = default;
};
struct quint2x4 {
  std::uint8_t value;
  friend constexpr bool operator==(quint2x4, quint2x4) = default;
};

// Bits whose meaning only the user knows: eight of one bit, four of two, two of four, one of eight or
// sixteen.
struct bits1x8 {
  std::uint8_t value;
  friend constexpr bool operator==(bits1x8, bits1x8) = default;
};
struct bits2x4 {
  std::uint8_t value;
  friend constexpr bool operator==(bits2x4, bits2x4) = default;
};
struct bits4x2 {
  std::uint8_t value;
  friend constexpr bool operator==(bits4x2, bits4x2) = default;
};
struct bits8 {
  std::uint8_t value;
  friend constexpr bool operator==(bits8, bits8) = default;
};
struct bits16 {
  std::uint16_t value;
  friend constexpr bool operator==(bits16, bits16) = default;
};

}  // namespace keyway::inline v1
