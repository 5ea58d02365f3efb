// The 8-bit floats of the OCP and fnuz formats: storage types for quantised weights and scales.
#pragma once

#include <keyway/core/base/bits.h>
#include <keyway/core/base/narrow_float.h>

#include <cstdint>
#include <limits>
#include <string>

namespace keyway::inline v1 {

// Largest number 448, smallest 2^-9; no infinity: what rounds beyond 448 is NaN.
struct Float8_e4m3fn : detail::NarrowFloat<Float8_e4m3fn, 4, 3, 7, FloatSpecials::NanAllOnes> {
  using NarrowFloat::NarrowFloat;
};

// Largest number 57344, smallest 2^-16; with infinities, as IEEE would have it.
struct Float8_e5m2 : detail::NarrowFloat<Float8_e5m2, 5, 2, 15, FloatSpecials::Ieee> {
  using NarrowFloat::NarrowFloat;
};

// Largest number 240, smallest 2^-10; no infinity, no -0, one NaN.
struct Float8_e4m3fnuz : detail::NarrowFloat<Float8_e4m3fnuz, 4, 3, 8, FloatSpecials::NanNegZero> {
  using NarrowFloat::NarrowFloat;
};

// Largest number 57344, smallest 2^-17; no infinity, no -0, one NaN.
struct Float8_e5m2fnuz : detail::NarrowFloat<Float8_e5m2fnuz, 5, 2, 16, FloatSpecials::NanNegZero> {
  using NarrowFloat::NarrowFloat;
};

// A power of two from 2^-127 to 2^127, or NaN: the scale of a block of microscaled numbers. It has no zero,
// no sign, no infinity and no arithmetic. Rounding ignores the sign and is to the nearest power, ties to the
// larger one; what is below 2^-127, zero included, gives 2^-127; what rounds beyond 2^127, and infinity, give
// NaN.
class Float8_e8m0fnu {
 public:
  using Bits = std::uint8_t;

  Float8_e8m0fnu() = default;
  KEYWAY_HD constexpr explicit Float8_e8m0fnu(float x) : bits_(encode(x)) {}
  template <detail::DoubleOrIntegral T>
  KEYWAY_HD constexpr explicit Float8_e8m0fnu(T x) : bits_(encode(detail::round_to_odd(x))) {}
  KEYWAY_HD constexpr operator float() const {  // NOLINT
    const std::uint32_t wide = bits_ == 0 ? 0x00400000u : static_cast<std::uint32_t>(bits_) << 23;
    return detail::bit_cast<float>(bits_ == 0xff ? 0x7fc00000u : wide);
  }
  KEYWAY_HD static constexpr Float8_e8m0fnu from_bits(Bits bits) {
    Float8_e8m0fnu x(1.0f);
    x.bits_ = bits;
    return x;
  }
  KEYWAY_HD constexpr Bits bits() const { return bits_; }

 private:
  KEYWAY_HD static constexpr Bits encode(float x) {
    const std::uint32_t a = detail::bit_cast<std::uint32_t>(x) & 0x7fffffffu;
    // A subnormal float x has the exponent of 2^-126 and no leading one: from 1.5 * 2^-127 it is nearer to
    // 2^-126.
    const std::uint32_t code = a < 0x00800000u ? (a >= 0x00600000u ? 1u : 0u) : (a + 0x00400000u) >> 23;
    return static_cast<Bits>(a >= 0x7f800000u ? 0xffu : code);
  }
  Bits bits_;
};

// As for the other narrow floats: "0.5", "nan".
inline std::string to_string(Float8_e8m0fnu x) {
  return detail::shortest_text(
      x, [](double a, double b) { return static_cast<float>(Float8_e8m0fnu(a)) == static_cast<float>(b); });
}

}  // namespace keyway::inline v1

template <>
struct std::numeric_limits<keyway::Float8_e8m0fnu> {
  using T = keyway::Float8_e8m0fnu;
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = false;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = false;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool is_bounded = true;
  static constexpr int digits = 1;
  static constexpr int radix = 2;
  KEYWAY_HD static constexpr T min() { return T::from_bits(0); }
  KEYWAY_HD static constexpr T max() { return T::from_bits(0xfe); }
  KEYWAY_HD static constexpr T lowest() { return T::from_bits(0); }
  KEYWAY_HD static constexpr T epsilon() { return T::from_bits(0x7f); }
  KEYWAY_HD static constexpr T quiet_NaN() { return T::from_bits(0xff); }
};
