// What Half, BFloat16 and the 8-bit floats share: rounding from float, widening to float, arithmetic, limits.
//
// Both conversions are a few integer operations and selects on 32-bit lanes, without branches or tables, so
// that loops over them become vector code with the plain instruction set. Subnormals are rounded by adding a
// float whose last place is the format's smallest number; neither direction needs a subnormal float there, so
// results do not depend on the processor's flush-to-zero mode. They do need its default rounding, to nearest.
// CUDA devices convert 16 bits by instructions of theirs (device_floats.h).
#pragma once

#include <keyway/core/base/bits.h>
#include <keyway/core/base/device_floats.h>
#include <keyway/core/base/macros.h>
#include <keyway/core/base/number_text.h>

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace keyway::inline v1 {

// What the codes of an all-ones exponent mean.
enum class FloatSpecials : std::uint8_t {
  Ieee,        // infinities and NaNs
  NanAllOnes,  // numbers; all bits set is NaN; no infinity ("fn")
  NanNegZero,  // numbers; the one NaN is what would be -0; no infinity, no -0 ("fnuz")
};

namespace detail {

// Whether T is another library's type of the same bits as D, as CUDA's __half is of Half's: they convert both ways
// without a change. True where a header that knows both says so.
template <typename T, typename D>
inline constexpr bool kIsSameFormat = false;

// Base of the narrow types: D is the type itself, of 1 + E + M bits with an exponent bias.
//
// Rounding is once, to nearest, ties to even, from float, double and every integer. What rounds beyond the
// largest number becomes infinity, or NaN in a format without infinities. NaNs come out quiet; in 16 bits
// they keep their sign and the high bits of their payload, in 8 bits they become the one NaN of their sign.
// Widening to float is exact. Default construction leaves the bits indeterminate, as for float.
template <typename D, int E, int M, int Bias, FloatSpecials S>
class NarrowFloat {
 public:
  using NarrowFloatType = D;
  using Bits = std::conditional_t<(E + M > 7), std::uint16_t, std::uint8_t>;

  static constexpr int kExponentBits = E;
  static constexpr int kMantissaBits = M;
  static constexpr int kBias = Bias;
  static constexpr FloatSpecials kSpecials = S;
  static constexpr std::uint32_t kSignBit = 1u << (E + M);
  static constexpr std::uint32_t kMagnitudeMask = kSignBit - 1;
  static constexpr std::uint32_t kTopExponent = ((1u << E) - 1) << M;
  static constexpr bool kHasInfinity = S == FloatSpecials::Ieee;
  static constexpr bool kKeepsPayload = kHasInfinity && E + M > 7;
  static constexpr std::uint32_t kQuietNan = kKeepsPayload                    ? kTopExponent | 1u << (M - 1)
                                             : S == FloatSpecials::NanNegZero ? kSignBit
                                                                              : kMagnitudeMask;
  static constexpr std::uint32_t kLargest = kHasInfinity                     ? kTopExponent - 1
                                            : S == FloatSpecials::NanAllOnes ? kMagnitudeMask - 1
                                                                             : kMagnitudeMask;
  static constexpr std::uint32_t kOverflow = kHasInfinity ? kTopExponent : kQuietNan;

  NarrowFloat() = default;
  KEYWAY_HD constexpr NarrowFloat(float value) : x(encode(value)) {}  // NOLINT
  template <DoubleOrIntegral T>
  KEYWAY_HD constexpr NarrowFloat(T value) : x(encode(round_to_odd(value))) {}       // NOLINT
  KEYWAY_HD constexpr operator float() const { return bit_cast<float>(decode(x)); }  // NOLINT

  template <typename T>
  requires kIsSameFormat<T, D> KEYWAY_HD constexpr NarrowFloat(const T& same) : x(bit_cast<Bits>(same)) {}  // NOLINT
  // As in PyTorch a BFloat16 becomes CUDA's only where that is written: CUDA's comparisons would be as near as float's.
  template <typename T>
  requires kIsSameFormat<T, D> KEYWAY_HD constexpr explicit(E == 8) operator T() const { return bit_cast<T>(x); }

  KEYWAY_HD static constexpr D from_bits(Bits bits) {
    D d(0.0f);
    d.x = bits;
    return d;
  }
  KEYWAY_HD constexpr Bits bits() const { return x; }

  // Flips the sign, also of NaN.
  KEYWAY_HD constexpr D operator-() const {
    if (S == FloatSpecials::NanNegZero && (x & kMagnitudeMask) == 0) return from_bits(x);
    return from_bits(static_cast<Bits>(x ^ kSignBit));
  }
  KEYWAY_HD constexpr D operator+() const { return from_bits(x); }

 private:
  static constexpr int kShift = 23 - M;                             // from float's mantissa to ours
  static constexpr std::uint32_t kRebias = (127u - Bias) << 23;     // between the exponents, in float's place
  static constexpr std::uint32_t kNormal = (128u - Bias) << 23;     // bits of our smallest normal number as a float
  static constexpr std::uint32_t kMagic = (151u - Bias - M) << 23;  // a float whose last place is our smallest number
  static constexpr bool kFloatRange = Bias == 127;                  // float's exponents, so float's subnormals are ours

  KEYWAY_HD static constexpr Bits encode(float x) {
#if defined(__CUDA_ARCH__)
    if (!__builtin_is_constant_evaluated()) {
      if constexpr (E == 5 && M == 10) return device_half_of(x);
#if __CUDA_ARCH__ >= 800
      if constexpr (E == 8 && M == 7) return device_bfloat16_of(x);
#endif
    }
#endif
    const std::uint32_t bits = bit_cast<std::uint32_t>(x);
    const std::uint32_t a = bits & 0x7fffffffu;
    const std::uint32_t sign = (bits & 0x80000000u) >> (31 - E - M);
    const std::uint32_t half_ulp = (1u << (kShift - 1)) - 1 + (a >> kShift & 1u);
    std::uint32_t code = (a - kRebias + half_ulp) >> kShift;
    if constexpr (!kFloatRange) {
      const float aligned = bit_cast<float>(a) + bit_cast<float>(kMagic);
      code = a < kNormal ? bit_cast<std::uint32_t>(aligned) - kMagic : code;
    }
    code = code > kLargest ? kOverflow : code;
    const std::uint32_t payload = kKeepsPayload ? a >> kShift & ((1u << M) - 1) : 0u;
    code = a > 0x7f800000u ? kQuietNan | payload : code;
    const bool unsigned_code = S == FloatSpecials::NanNegZero && (code & kMagnitudeMask) == 0;
    return static_cast<Bits>(unsigned_code ? code : code | sign);
  }

  KEYWAY_HD static constexpr std::uint32_t decode(Bits bits) {
#if defined(__CUDA_ARCH__)
    if constexpr (E == 5 && M == 10) {
      if (!__builtin_is_constant_evaluated()) return bit_cast<std::uint32_t>(device_float_of_half(bits));
    }
#endif
    const std::uint32_t code = bits;
    if constexpr (kFloatRange) {
      return code << kShift;
    } else {
      const std::uint32_t a = code & kMagnitudeMask;
      const std::uint32_t sign = (code & kSignBit) << (31 - E - M);
      const float subnormal = bit_cast<float>(a + kMagic) - bit_cast<float>(kMagic);
      std::uint32_t wide = (a << kShift) + kRebias;
      wide = a < 1u << M ? bit_cast<std::uint32_t>(subnormal) : wide;
      if constexpr (kHasInfinity) {
        wide = a >= kTopExponent ? 0x7f800000u | a << kShift : wide;
        wide = a > kTopExponent ? wide | 0x00400000u : wide;
        return wide | sign;
      } else if constexpr (S == FloatSpecials::NanAllOnes) {
        wide = a == kMagnitudeMask ? 0x7fc00000u : wide;
        return wide | sign;
      } else {
        return code == kSignBit ? 0x7fc00000u : wide | sign;
      }
    }
  }

 public:
  Bits x;  // by PyTorch's name
};

}  // namespace detail

template <typename T>
concept NarrowFloatType = std::same_as<typename T::NarrowFloatType, T>;

// What arithmetic takes beside an A: two of one narrow type, or one and a built-in number.
template <typename B, typename A>
concept NarrowOperand = (NarrowFloatType<A> && (std::same_as<A, B> || std::is_arithmetic_v<B>)) ||
                        (std::is_arithmetic_v<A> && NarrowFloatType<B>);

namespace detail {
// With a float or double the result is one; else it is the narrow type, rounded once from float.
template <typename A, typename B>
using NarrowResult = std::conditional_t<
    std::is_floating_point_v<A>, A,
    std::conditional_t<std::is_floating_point_v<B>, B, std::conditional_t<NarrowFloatType<A>, A, B>>>;
// What the operation is computed in. An integer is rounded to the narrow type first.
template <typename R, typename T>
KEYWAY_HD constexpr auto widen(T x) {
  if constexpr (std::is_floating_point_v<R>) {
    return static_cast<R>(x);
  } else {
    return static_cast<float>(static_cast<R>(x));
  }
}
}  // namespace detail

template <typename A, NarrowOperand<A> B, typename R = detail::NarrowResult<A, B>>
KEYWAY_HD constexpr R operator+(A a, B b) {
  return R(detail::widen<R>(a) + detail::widen<R>(b));
}
template <typename A, NarrowOperand<A> B, typename R = detail::NarrowResult<A, B>>
KEYWAY_HD constexpr R operator-(A a, B b) {
  return R(detail::widen<R>(a) - detail::widen<R>(b));
}
template <typename A, NarrowOperand<A> B, typename R = detail::NarrowResult<A, B>>
KEYWAY_HD constexpr R operator*(A a, B b) {
  return R(detail::widen<R>(a) * detail::widen<R>(b));
}
template <typename A, NarrowOperand<A> B, typename R = detail::NarrowResult<A, B>>
KEYWAY_HD constexpr R operator/(A a, B b) {
  return R(detail::widen<R>(a) / detail::widen<R>(b));
}
template <NarrowFloatType T, NarrowOperand<T> B>
KEYWAY_HD constexpr T& operator+=(T& a, B b) {
  return a = T(a + b);
}
template <NarrowFloatType T, NarrowOperand<T> B>
KEYWAY_HD constexpr T& operator-=(T& a, B b) {
  return a = T(a - b);
}
template <NarrowFloatType T, NarrowOperand<T> B>
KEYWAY_HD constexpr T& operator*=(T& a, B b) {
  return a = T(a * b);
}
template <NarrowFloatType T, NarrowOperand<T> B>
KEYWAY_HD constexpr T& operator/=(T& a, B b) {
  return a = T(a / b);
}

// The shortest decimal that rounds to the same value, as Python would write it: "0.1", "65500.0", "inf",
// "nan".
template <NarrowFloatType T>
std::string to_string(T x) {
  return detail::shortest_text(static_cast<float>(x),
                               [](double a, double b) { return static_cast<float>(T(a)) == static_cast<float>(b); });
}

}  // namespace keyway::inline v1

template <keyway::NarrowFloatType T>
struct std::numeric_limits<T> {
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = T::kHasInfinity;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = T::kKeepsPayload;
  static constexpr std::float_denorm_style has_denorm = std::denorm_present;
  static constexpr bool has_denorm_loss = false;
  static constexpr std::float_round_style round_style = std::round_to_nearest;
  static constexpr bool is_iec559 = T::kHasInfinity;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr int digits = T::kMantissaBits + 1;
  static constexpr int digits10 = (digits - 1) * 30103 / 100000;
  static constexpr int max_digits10 = 2 + digits * 30103 / 100000;
  static constexpr int radix = 2;
  static constexpr int min_exponent = 2 - T::kBias;
  static constexpr int min_exponent10 = (min_exponent - 1) * 30103 / 100000;
  static constexpr int max_exponent = (1 << T::kExponentBits) - T::kBias - (T::kHasInfinity ? 1 : 0);
  static constexpr int max_exponent10 = max_exponent * 30103 / 100000;
  static constexpr bool traps = false;
  static constexpr bool tinyness_before = false;

  KEYWAY_HD static constexpr T min() { return code(1u << T::kMantissaBits); }
  KEYWAY_HD static constexpr T max() { return code(T::kLargest); }
  KEYWAY_HD static constexpr T lowest() { return code(T::kLargest | T::kSignBit); }
  KEYWAY_HD static constexpr T epsilon() { return T(1.0f / static_cast<float>(1 << T::kMantissaBits)); }
  KEYWAY_HD static constexpr T round_error() { return T(0.5f); }
  // Zero in a format without infinities, as the standard has it.
  KEYWAY_HD static constexpr T infinity() { return code(T::kHasInfinity ? T::kTopExponent : 0u); }
  KEYWAY_HD static constexpr T quiet_NaN() { return code(T::kQuietNan); }
  KEYWAY_HD static constexpr T signaling_NaN() { return code(T::kKeepsPayload ? T::kTopExponent | 1u : 0u); }
  KEYWAY_HD static constexpr T denorm_min() { return code(1); }

 private:
  KEYWAY_HD static constexpr T code(std::uint32_t bits) { return T::from_bits(static_cast<typename T::Bits>(bits)); }
};
