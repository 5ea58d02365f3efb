// Elementary functions of double. Functions of float that are not in single.h are computed with these and
// rounded once, which leaves at most 0.51 units in the last place.
//
// Errors of double results, in units in the last place, against the C library's long double: exp 1.1, expm1 2.2, log
// 0.9, log1p 1.1; the other functions are for float alone, and good to 2^-45.
#pragma once

#include <keyway/backends/cpu/simd/fma.h>

#include <cstdint>

namespace keyway::inline v1::simd {

template <SimdLevel level>
struct Wide {
  KEYWAY_INLINE static std::uint64_t bits(double x) { return __builtin_bit_cast(std::uint64_t, x); }
  KEYWAY_INLINE static double from_bits(std::uint64_t b) { return __builtin_bit_cast(double, b); }

  static constexpr double kInf = __builtin_inf();
  static constexpr double kNan = __builtin_nan("");
  static constexpr double kLog2e = 0x1.71547652b82fep+0;
  // ln(2) in two parts; products of the first, of 33 bits, with exponents are exact.
  static constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;
  // 1.5 * 2^52: adding it rounds to an integer, which then is in the last bits.
  static constexpr double kMagic = 0x1.8p+52;

  // 2^n r with |r| <= ln(2) / 2, r being what exp() is left with.
  struct Reduced {
    double rest;
    std::uint64_t n;  // in its low twelve bits, two's complement
  };
  KEYWAY_INLINE static Reduced reduce(double x) {
    const double shifted = fma<level>(x, kLog2e, kMagic);
    const double n = shifted - kMagic;
    return {fma<level>(n, -kLn2Low, fma<level>(n, -kLn2High, x)), bits(shifted)};
  }
  KEYWAY_INLINE static double power_of_two(std::uint64_t n) { return from_bits((n + 1023) << 52); }

  static constexpr double kSmallAngle = has_fma(level) ? 0x1p30 : 0x1p20;

  // exp(r) - 1.
  KEYWAY_INLINE static double expm1_of_rest(double r) {
    // Through the Chebyshev nodes of degree 10 in [-ln(2) / 2, ln(2) / 2].
    const double q =
        polynomial<level>(r, 0x1.0000000000001p-1, 0x1.5555555555556p-3, 0x1.5555555553d56p-5, 0x1.11111111109afp-7,
                          0x1.6c16c17890eb4p-10, 0x1.a01a01a7c73c0p-13, 0x1.a019b8f9792eep-16, 0x1.71de0da24602dp-19,
                          0x1.28919ccaf9211p-22, 0x1.af38c67fbb53ep-26);
    return fma<level>(r * r, q, r);
  }
  // Into [low, high]; NaN stays.
  KEYWAY_INLINE static double clamp(double x, double low, double high) {
    x = x < low ? low : x;
    return x > high ? high : x;
  }

  KEYWAY_INLINE static double exp(double x) {
    const Reduced reduced = reduce(clamp(x, -746.0, 710.0));
    const double p = 1 + expm1_of_rest(reduced.rest);
    // 2^n as a product of two, each in the range of exponents. What is above the low bits is shifted out.
    const std::uint64_t twice = reduced.n + 2046, first = twice >> 1, second = twice - first;
    return p * from_bits(first << 52) * from_bits(second << 52);
  }
  KEYWAY_INLINE static double expm1(double x) {
    const Reduced reduced = reduce(clamp(x, -50.0, 710.0));
    // Half of 2^n, which is a number also for n = 1024.
    const double half = power_of_two(reduced.n - 1);
    const double result = fma<level>(half, expm1_of_rest(reduced.rest), half - 0.5) * 2;
    return x == 0 ? x : result;
  }

  // x = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), for positive normal x.
  struct Parts {
    double e;
    double f;
    std::uint64_t biased;  // e + 1023
  };
  KEYWAY_INLINE static Parts split(double x) {
    constexpr std::uint64_t kOne = 0x3ff0000000000000, kSqrtHalf = 0x3fe6a09e667f3bcd;
    const std::uint64_t up = bits(x) + (kOne - kSqrtHalf), biased = up >> 52;
    // An integer as a double: it is put into the last bits of 2^52.
    const double e = from_bits(biased | 0x4330000000000000) - 0x1.00000000003ffp+52;
    return {e, from_bits((up & 0x000fffffffffffff) + kSqrtHalf) - 1, biased};
  }
  // log(1 + f) = f - s (f - s^2 R(s^2)) with s = f / (2 + f); and e ln(2).
  KEYWAY_INLINE static double log_of(double e, double f) {
    const double s = f / (2 + f), z = s * s;
    const double r =
        polynomial<level>(z, 0x1.555555555557cp-1, 0x1.99999999847e9p-2, 0x1.2492493fad552p-2, 0x1.c71c52be8192ap-3,
                          0x1.746647dd066c2p-3, 0x1.399d294f88f5bp-3, 0x1.2f50f43e64db5p-3);
    const double low = fma<level>(e, kLn2Low, -s * fma<level>(-z, r, f));
    return fma<level>(e, kLn2High, f + low);
  }
  // What logarithms are outside of (0, inf).
  KEYWAY_INLINE static double log_specials(double x, double result) {
    result = x == kInf ? x : result;
    result = x == 0 ? -kInf : result;
    return x >= 0 ? result : kNan;
  }
  KEYWAY_INLINE static double log(double x) {
    constexpr double kTiny = 0x1p-1022;
    const bool subnormal = x < kTiny;
    const Parts parts = split(subnormal ? x * 0x1p54 : x);
    return log_specials(x, log_of(parts.e - (subnormal ? 54.0 : 0.0), parts.f));
  }
  // Of 1 + x, with what rounding has taken from 1 + x added to f.
  KEYWAY_INLINE static double log1p(double x) {
    const double u = 1 + x;
    const double lost = x > 1 ? 1 - (u - x) : x - (u - 1);
    const Parts parts = split(u);
    // 2^-e; the greatest numbers have lost nothing.
    const double scale = from_bits(parts.biased < 2046 ? (2046 - parts.biased) << 52 : 0);
    const double result = log_of(parts.e, fma<level>(lost, scale, parts.f));
    return x == 0 ? x : log_specials(u, result);
  }

  // For |x| < kSmallAngle: the quadrant of x, and what is left of it, in [-pi/4, pi/4].
  struct Angle {
    double rest;
    std::uint64_t quadrant;  // in its two low bits
  };
  KEYWAY_INLINE static Angle quadrant(double x) {
    constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
    // pi / 2 in three parts, the first two of 33 bits at most. Where multiplying rounds, products with quadrants of up
    // to 20 bits are exact.
    constexpr double kHigh = 0x1.921fb544p+0, kMiddle = 0x1.0b4611a6p-34, kLow = 0x1.3198a2e037073p-69;
    const double shifted = fma<level>(x, kTwoOverPi, kMagic);
    const double n = shifted - kMagic;
    const double rest = fma<level>(n, -kMiddle, fma<level>(n, -kHigh, x));
    return {fma<level>(n, -kLow, rest), bits(shifted)};
  }
  KEYWAY_INLINE static double sin_of_rest(double r) {
    const double z = r * r;
    return fma<level>(r * z,
                      polynomial<level>(z, -0x1.5555555552e35p-3, 0x1.1111110cdad2ep-7, -0x1.a019f94505ff8p-13,
                                        0x1.71d7521459761p-19, -0x1.a9503f3d9602ap-26),
                      r);
  }
  KEYWAY_INLINE static double cos_of_rest(double r) {
    const double z = r * r;
    return fma<level>(z * z,
                      polynomial<level>(z, 0x1.5555555554a24p-5, -0x1.6c16c169adf35p-10, 0x1.a019fcd883dcp-16,
                                        -0x1.27e1081ab559fp-22, 0x1.1c0621f17f1ddp-29),
                      fma<level>(z, -0.5, 1.0));
  }
  KEYWAY_INLINE static double with_sign_bit(double x, std::uint64_t sign) { return from_bits(bits(x) ^ sign << 63); }

  KEYWAY_INLINE static double sin(double x) {
    const Angle angle = quadrant(x);
    const double s = sin_of_rest(angle.rest), c = cos_of_rest(angle.rest);
    const double result = with_sign_bit((angle.quadrant & 1) != 0 ? c : s, angle.quadrant >> 1 & 1);
    return x == 0 ? x : result;
  }
  KEYWAY_INLINE static double cos(double x) {
    const Angle angle = quadrant(x);
    const double s = sin_of_rest(angle.rest), c = cos_of_rest(angle.rest);
    return with_sign_bit((angle.quadrant & 1) != 0 ? s : c, (angle.quadrant + 1) >> 1 & 1);
  }
  KEYWAY_INLINE static double tan(double x) {
    const Angle angle = quadrant(x);
    const double s = sin_of_rest(angle.rest), c = cos_of_rest(angle.rest);
    const bool odd = (angle.quadrant & 1) != 0;
    const double result = (odd ? -c : s) / (odd ? s : c);
    return x == 0 ? x : result;
  }

  // The angle of (x, y): of the quotient brought into [-tan(pi/8), tan(pi/8)], and the rest from the octant.
  KEYWAY_INLINE static double atan2(double y, double x) {
    constexpr double kPi = 0x1.921fb54442d18p+1, kTan = 0x1.a827999fcef32p-2, kCotan = 0x1.3504f333f9de6p+1;
    double a = __builtin_fabs(y), b = __builtin_fabs(x);
    const bool both_infinite = a == kInf && b == kInf;
    a = both_infinite ? 1.0 : a;
    b = both_infinite ? 1.0 : b;
    const bool steep = a > kCotan * b, middle = a > kTan * b;
    const double above = steep ? -b : middle ? a - b : a;
    const double below = steep ? a : middle ? a + b : b;
    const double base = steep ? kPi / 2 : middle ? kPi / 4 : 0.0;
    const double t = a == 0 ? a : above / below;
    const double z = t * t;
    const double p = polynomial<level>(z, -0x1.55555555538f9p-2, 0x1.9999999533a93p-3, -0x1.249247851697dp-3,
                                       0x1.c71be4967d188p-4, -0x1.744fec94bc89fp-4, 0x1.3a583187b0413p-4,
                                       -0x1.0aa0d6de8c4abp-4, 0x1.9c27c6960ad96p-5, -0x1.9f52988464666p-6);
    const double angle = base + fma<level>(t * z, p, t);
    const double result = __builtin_copysign(bits(x) >> 63 != 0 ? kPi - angle : angle, y);
    return x != x ? x : result;
  }
  KEYWAY_INLINE static double atan(double x) { return atan2(x, 1.0); }
  KEYWAY_INLINE static double asin(double x) { return atan2(x, __builtin_sqrt((1 - x) * (1 + x))); }
  KEYWAY_INLINE static double acos(double x) { return atan2(__builtin_sqrt((1 - x) * (1 + x)), x); }

  KEYWAY_INLINE static double sinh(double x) {
    const double e = expm1(clamp(__builtin_fabs(x), 0, 700));
    return __builtin_copysign(0.5 * (e + e / (e + 1)), x);
  }
  KEYWAY_INLINE static double cosh(double x) {
    const double e = exp(__builtin_fabs(x));
    return 0.5 * (e + 1 / e);
  }
  KEYWAY_INLINE static double asinh(double x) {
    const double a = __builtin_fabs(x);
    const double result = log1p(a + a * a / (1 + __builtin_sqrt(1 + a * a)));
    return __builtin_copysign(a == __builtin_huge_val() ? a : result, x);
  }
  KEYWAY_INLINE static double acosh(double x) {
    const double t = x - 1;
    const double result = log1p(t + __builtin_sqrt(t * (x + 1)));
    return x < 1 ? kNan : result;
  }
  KEYWAY_INLINE static double atanh(double x) {
    const double a = __builtin_fabs(x);
    return __builtin_copysign(0.5 * log1p(2 * a / (1 - a)), x);
  }

  // Odd and rational in x^2, to 2^-29 of the result; 1 from 3.93 on.
  KEYWAY_INLINE static double erf(double x) {
    const double y = clamp(x, -3.93, 3.93), z = y * y;
    const double p =
        polynomial<level>(z, 0x1.20dd750d1f2f4p+0, 0x1.7b2f1372ec6a7p-3, 0x1.bc74f5fb25c3fp-5, 0x1.f75c881526774p-9,
                          0x1.8b7f1c4777804p-12, 0x1.360f057b256f4p-18, -0x1.b9d43eebb2b05p-27);
    const double q = polynomial<level>(z, 1.0, 0x1.fd5ada74da247p-2, 0x1.d27b9200ef9dfp-4, 0x1.f9c5df8ecad5dp-7,
                                       0x1.556c92437fbfp-10, 0x1.062799e3a2ff8p-14);
    return y * p / q;
  }

  // C's special cases: pow(1, y) and pow(x, 0) are 1, a negative base has powers of integer exponents only.
  KEYWAY_INLINE static double pow(double x, double y) {
    const double a = __builtin_fabs(x);
    // The last bit of an integer below 2^53 is the last of its double when 2^52 is added; above, all are
    // even.
    const double b = __builtin_fabs(y), shifted = b + 0x1p+52;
    const bool is_integer = (shifted - 0x1p+52 == b) | (b >= 0x1p+52);
    const std::uint64_t odd = b < 0x1p+52 && is_integer ? bits(shifted) & 1 : 0;
    double product = y * log(a);
    product = ((y == 0) | (a == 1)) ? 0.0 : product;
    double result = with_sign_bit(exp(product), odd & bits(x) >> 63);
    result = ((x < 0) & !is_integer & (a != kInf)) ? kNan : result;
    return ((x == 1) | (y == 0)) ? 1.0 : result;
  }
};

}  // namespace keyway::inline v1::simd
