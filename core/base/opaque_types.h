// Element types without arithmetic: quantised numbers, which mean something only with a scale, and bit
// fields.
#pragma once

#include <compare>
#include <cstdint>

namespace keyway::inline v1 {

namespace detail {
template <typename Self, typename Bits>
struct Opaque {
  Bits value;
  friend constexpr bool operator==(Opaque, Opaque) = default;
};
template <typename Self, typename Bits>
struct OpaqueNumber {
  Bits value;
  friend constexpr auto operator<=>(OpaqueNumber, OpaqueNumber) = default;
};
}  // namespace detail

// One quantised number.
struct qint8 : detail::OpaqueNumber<qint8, std::int8_t> {};
struct quint8 : detail::OpaqueNumber<quint8, std::uint8_t> {};
struct qint32 : detail::OpaqueNumber<qint32, std::int32_t> {};

// A byte of two 4-bit, or of four 2-bit, quantised numbers; the first lies in the low bits.
struct quint4x2 : detail::Opaque<quint4x2, std::uint8_t> {};
struct quint2x4 : detail::Opaque<quint2x4, std::uint8_t> {};

// Bits whose meaning only the user knows: eight of one bit, four of two, two of four, one of eight or
// sixteen.
struct bits1x8 : detail::Opaque<bits1x8, std::uint8_t> {};
struct bits2x4 : detail::Opaque<bits2x4, std::uint8_t> {};
struct bits4x2 : detail::Opaque<bits4x2, std::uint8_t> {};
struct bits8 : detail::Opaque<bits8, std::uint8_t> {};
struct bits16 : detail::Opaque<bits16, std::uint16_t> {};

}  // namespace keyway::inline v1
