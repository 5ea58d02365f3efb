#include <keyway/core/base/bfloat16.h>
#include <keyway/core/base/float8.h>
#include <keyway/core/base/half.h>
#include <keyway/tests/catch.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

using namespace keyway;

namespace {
// Somebody else's binary16.
struct OtherHalf {
  std::uint16_t bits;
};
}  // namespace
template <>
inline constexpr bool keyway::detail::kIsSameFormat<OtherHalf, Half> = true;

TEST_CASE("another library's type of the same bits converts both ways without a change") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {  // with NaNs of every payload
    const Half half = OtherHalf{static_cast<std::uint16_t>(bits)};
    REQUIRE((half.x == bits && OtherHalf(half).bits == bits));
  }
  STATIC_REQUIRE_FALSE(std::is_convertible_v<BFloat16, OtherHalf>);
}

namespace {

// The formats as their specifications define them, in double: the oracle of every test here.
struct Format {
  int exponent_bits, mantissa_bits, bias;
  bool infinity;
  bool nan_is_negative_zero;

  std::uint32_t sign_bit() const { return 1u << (exponent_bits + mantissa_bits); }
  std::uint32_t largest() const {
    const std::uint32_t top = (1u << exponent_bits) - 1;
    if (infinity) return (top << mantissa_bits) - 1;
    return nan_is_negative_zero ? sign_bit() - 1 : sign_bit() - 2;
  }
  bool is_nan(std::uint32_t code) const {
    const std::uint32_t magnitude = code & (sign_bit() - 1);
    return nan_is_negative_zero ? code == sign_bit() : magnitude > largest() + (infinity ? 1 : 0);
  }
  // Of a non-negative code, as if exponents went on for ever.
  double value(std::uint32_t code) const {
    const int exponent = static_cast<int>(code >> mantissa_bits);
    const double fraction = code & ((1u << mantissa_bits) - 1);
    const double implied = exponent == 0 ? 0 : std::ldexp(1, mantissa_bits);
    return std::ldexp(implied + fraction, std::max(exponent, 1) - bias - mantissa_bits);
  }
  // The code nearest to x >= 0, ties to even; beyond the largest number largest() + 1.
  std::uint32_t nearest(double x) const {
    std::uint32_t low = 0, high = largest() + 1;
    if (x >= value(high)) return high;
    while (high - low > 1) {
      const std::uint32_t middle = (low + high) / 2;
      (value(middle) <= x ? low : high) = middle;
    }
    const double midpoint = (value(low) + value(high)) / 2;  // exact: one bit more than the format
    return x < midpoint || (x == midpoint && low % 2 == 0) ? low : high;
  }
};

template <typename T>
constexpr Format kFormat{};
template <>
constexpr Format kFormat<Half>{5, 10, 15, true, false};
template <>
constexpr Format kFormat<BFloat16>{8, 7, 127, true, false};
template <>
constexpr Format kFormat<Float8_e5m2>{5, 2, 15, true, false};
template <>
constexpr Format kFormat<Float8_e4m3fn>{4, 3, 7, false, false};
template <>
constexpr Format kFormat<Float8_e5m2fnuz>{5, 2, 16, false, true};
template <>
constexpr Format kFormat<Float8_e4m3fnuz>{4, 3, 8, false, true};

// The code that rounding x must give; any NaN code is right for NaN.
template <typename T>
bool rounds_right(double x, T got) {
  const Format f = kFormat<T>;
  if (std::isnan(x)) return f.is_nan(got.bits());
  const std::uint32_t magnitude = std::isinf(x) ? f.largest() + 1 : f.nearest(std::fabs(x));
  if (magnitude > f.largest() && !f.infinity) return f.is_nan(got.bits());
  const bool signed_code = std::signbit(x) && !(f.nan_is_negative_zero && magnitude == 0);
  return got.bits() == (signed_code ? magnitude | f.sign_bit() : magnitude);
}

}  // namespace

TEMPLATE_TEST_CASE("every code widens to the value its format defines", "", Half, BFloat16, Float8_e5m2, Float8_e4m3fn,
                   Float8_e5m2fnuz, Float8_e4m3fnuz) {
  const Format f = kFormat<TestType>;
  std::uint32_t wrong = 0;
  for (std::uint32_t code = 0; code < 2 * f.sign_bit(); ++code) {
    const float x = TestType::from_bits(static_cast<typename TestType::Bits>(code));
    const std::uint32_t magnitude = code & (f.sign_bit() - 1);
    if (f.is_nan(code)) {
      wrong += !std::isnan(x);
      continue;
    }
    const double expected = magnitude > f.largest() ? std::numeric_limits<double>::infinity() : f.value(magnitude);
    wrong += static_cast<double>(std::fabs(x)) != expected || std::signbit(x) != (magnitude != code);
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("every number survives the way to float, double and back", "", Half, BFloat16, Float8_e5m2,
                   Float8_e4m3fn, Float8_e5m2fnuz, Float8_e4m3fnuz) {
  const Format f = kFormat<TestType>;
  std::uint32_t wrong = 0;
  for (std::uint32_t code = 0; code < 2 * f.sign_bit(); ++code) {
    const auto x = TestType::from_bits(static_cast<typename TestType::Bits>(code));
    const TestType back(static_cast<float>(x)), back_from_double(static_cast<double>(static_cast<float>(x)));
    wrong += f.is_nan(code) ? !f.is_nan(back.bits()) || !f.is_nan(back_from_double.bits())
                            : back.bits() != code || back_from_double.bits() != code;
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("numbers, midpoints and their neighbours round to nearest, ties to even", "", Half, BFloat16,
                   Float8_e5m2, Float8_e4m3fn, Float8_e5m2fnuz, Float8_e4m3fnuz) {
  const Format f = kFormat<TestType>;
  std::uint32_t wrong = 0;
  const auto check = [&](double x) {
    wrong += !rounds_right(x, TestType(x)) + !rounds_right(-x, TestType(-x));
    const auto narrow = static_cast<float>(x);
    for (const float y : {narrow, std::nextafter(narrow, 0.0f), std::nextafter(narrow, INFINITY)}) {
      wrong += !rounds_right<TestType>(y, TestType(y)) + !rounds_right<TestType>(-y, TestType(-y));
    }
  };
  for (std::uint32_t code = 0; code <= f.largest() + 1; ++code) {
    const double value = f.value(code);
    const double midpoint = (value + f.value(code + 1)) / 2;
    for (const double x : {value, midpoint}) {
      // In double the neighbours of a midpoint are nearer than a float can say: no double rounding.
      for (const double y : {x, std::nextafter(x, 0.0), std::nextafter(x, INFINITY), x * (1 + 0x1p-30)}) check(y);
    }
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("floats and doubles of every exponent round right", "", Half, BFloat16, Float8_e5m2, Float8_e4m3fn,
                   Float8_e5m2fnuz, Float8_e4m3fnuz) {
  std::uint32_t wrong = 0;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 16411) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    wrong += !rounds_right<TestType>(x, TestType(x));
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; ++i) {
    const auto x = std::bit_cast<double>(random());
    wrong += !rounds_right<TestType>(x, TestType(x));
  }
  for (const double x : {1e308, -1e308, 5e-324, -5e-324, 0.0, -0.0, double{INFINITY}, -double{INFINITY}, double{NAN}}) {
    wrong += !rounds_right<TestType>(x, TestType(x));
  }
  CHECK(wrong == 0);
}

// Takes a minute: run by name. All 2^32 floats; the oracle moves on when a float passes the next midpoint.
TEMPLATE_TEST_CASE("all floats round right", "[.exhaustive]", Half, BFloat16) {
  const Format f = kFormat<TestType>;
  std::uint32_t code = 0;
  std::uint64_t wrong = 0;
  double midpoint = f.value(1) / 2;
  for (std::uint32_t bits = 0; bits <= 0x7f800000u; ++bits) {
    const auto x = std::bit_cast<float>(bits);
    while (code <= f.largest() && (x > midpoint || (x == midpoint && code % 2 == 1))) {
      ++code;
      midpoint = (f.value(code) + f.value(code + 1)) / 2;
    }
    wrong += TestType(x).bits() != code;
    wrong += TestType(-x).bits() != (code | f.sign_bit());
  }
  for (std::uint32_t bits = 0x7f800001u; bits <= 0x7fffffffu; ++bits) {
    wrong += !f.is_nan(TestType(std::bit_cast<float>(bits)).bits());
    wrong += !f.is_nan(TestType(std::bit_cast<float>(bits | 0x80000000u)).bits());
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("64-bit integers round once", "", Half, BFloat16, Float8_e5m2) {
  // long double has 64 bits of mantissa on x86; elsewhere these values are still told apart from their
  // midpoint.
  std::uint32_t wrong = 0;
  const Format f = kFormat<TestType>;
  const auto check = [&](std::int64_t i, double near) {
    // `near` is on the same side of every midpoint as i, which double may not hold.
    wrong += !rounds_right(near, TestType(i)) + !rounds_right(-near, TestType(-i));
  };
  for (std::uint32_t code = 0; code < f.largest(); ++code) {
    const double midpoint = (f.value(code) + f.value(code + 1)) / 2;
    if (midpoint < 2 || midpoint > 0x1p62 || midpoint != std::floor(midpoint)) continue;
    const auto whole = static_cast<std::int64_t>(midpoint);
    check(whole, midpoint);
    check(whole - 1, std::nextafter(midpoint, 0.0));
    check(whole + 1, std::nextafter(midpoint, INFINITY));
  }
  CHECK(wrong == 0);
  CHECK(rounds_right(0x1p63, TestType(std::numeric_limits<std::int64_t>::max())));
  CHECK(rounds_right(-0x1p63, TestType(std::numeric_limits<std::int64_t>::min())));
  CHECK(rounds_right(0x1p64, TestType(std::numeric_limits<std::uint64_t>::max())));
  CHECK(rounds_right(1, TestType(true)));
}

TEST_CASE("NaNs of 16 bits keep sign and payload, and come out quiet") {
  CHECK(Half(std::bit_cast<float>(0x7f802000u)).bits() == 0x7e01);
  CHECK(Half(std::bit_cast<float>(0xffc04000u)).bits() == 0xfe02);
  CHECK(Half(std::bit_cast<float>(0x7f800001u)).bits() == 0x7e00);
  CHECK(Half(std::bit_cast<double>(0xfff0000000000001u)).bits() == 0xfe00);
  CHECK(BFloat16(std::bit_cast<float>(0x7f810000u)).bits() == 0x7fc1);
  CHECK(BFloat16(std::bit_cast<float>(0xffffffffu)).bits() == 0xffff);
  CHECK(std::bit_cast<std::uint32_t>(static_cast<float>(Half::from_bits(0x7c01))) == 0x7fc02000);
  CHECK(std::bit_cast<std::uint32_t>(static_cast<float>(Half::from_bits(0xfe03))) == 0xffc06000);
  CHECK(Float8_e4m3fn(-NAN).bits() == 0xff);
  CHECK(Float8_e5m2(NAN).bits() == 0x7f);
  CHECK(Float8_e4m3fnuz(NAN).bits() == 0x80);
  CHECK(Float8_e5m2fnuz(-NAN).bits() == 0x80);
}

TEST_CASE("a Float8_e8m0fnu is the nearest power of two") {
  for (int e = -127; e <= 127; ++e) {
    const double power = std::ldexp(1, e);
    CAPTURE(e);
    CHECK(Float8_e8m0fnu(power).bits() == e + 127);
    CHECK(static_cast<double>(Float8_e8m0fnu::from_bits(static_cast<std::uint8_t>(e + 127))) == power);
    CHECK(Float8_e8m0fnu(std::nextafter(1.5 * power, 0.0)).bits() == e + 127);
    CHECK(Float8_e8m0fnu(-1.5 * power).bits() == e + 128);
    CHECK(Float8_e8m0fnu(static_cast<float>(1.5 * power)).bits() == e + 128);
  }
  CHECK(Float8_e8m0fnu(0.0f).bits() == 0);
  CHECK(Float8_e8m0fnu(1e-300).bits() == 0);
  CHECK(Float8_e8m0fnu(1e300).bits() == 0xff);
  CHECK(Float8_e8m0fnu(INFINITY).bits() == 0xff);
  CHECK(Float8_e8m0fnu(NAN).bits() == 0xff);
  CHECK(std::isnan(static_cast<float>(Float8_e8m0fnu::from_bits(0xff))));
  CHECK(to_string(Float8_e8m0fnu(0.5f)) == "0.5");
}

TEMPLATE_TEST_CASE("arithmetic rounds once from float, and a float operand makes a float", "", Half, BFloat16,
                   Float8_e5m2, Float8_e4m3fn, Float8_e5m2fnuz, Float8_e4m3fnuz) {
  using T = TestType;
  static_assert(std::is_trivial_v<T> && std::is_standard_layout_v<T>);
  static_assert(std::is_same_v<decltype(T() + T()), T> && std::is_same_v<decltype(T() * 2), T> &&
                std::is_same_v<decltype(1L - T()), T> && std::is_same_v<decltype(T() / 2.0f), float> &&
                std::is_same_v<decltype(2.0 * T()), double> && std::is_same_v<decltype(-T()), T>);
  constexpr T a(1.5f), b(2.0f);
  static_assert(a + b == 3.5f && a - b == -0.5f && a * b == 3 && b / a == T(4.0f / 3.0f) && -a == -1.5f);
  T c = a;
  c += b;
  CHECK(c == 3.5f);
  c *= 2;
  CHECK(c == 7.0);
  c -= 3.0f;
  CHECK(c == T(4));
  c /= b;
  CHECK(c == b);
  CHECK((a < b && b > a && a <= a && a != b && !(a == b)));
  CHECK(std::sqrt(T(4)) == 2);
  CHECK(std::isnan(static_cast<float>(-std::numeric_limits<T>::quiet_NaN())));
  CHECK((-T(0.0f)).bits() == (kFormat<T>.nan_is_negative_zero ? 0 : kFormat<T>.sign_bit()));
}

TEMPLATE_TEST_CASE("numeric_limits describe the format", "", Half, BFloat16, Float8_e5m2, Float8_e4m3fn,
                   Float8_e5m2fnuz, Float8_e4m3fnuz) {
  using L = std::numeric_limits<TestType>;
  const Format f = kFormat<TestType>;
  CHECK(static_cast<double>(L::max()) == f.value(f.largest()));
  CHECK(static_cast<double>(L::lowest()) == -f.value(f.largest()));
  CHECK(static_cast<double>(L::denorm_min()) == f.value(1));
  CHECK(static_cast<double>(L::min()) == std::ldexp(1, L::min_exponent - 1));
  CHECK(static_cast<double>(L::epsilon()) == std::ldexp(1, 1 - L::digits));
  CHECK((std::ilogb(static_cast<double>(L::max())) + 1 == L::max_exponent));
  CHECK(L::min_exponent10 == static_cast<int>(std::ceil(std::log10(static_cast<double>(L::min())))));
  CHECK(L::max_exponent10 == static_cast<int>(std::log10(static_cast<double>(L::max()))));
  CHECK(L::digits10 == static_cast<int>((L::digits - 1) * std::log10(2)));
  CHECK(L::max_digits10 == static_cast<int>(std::ceil(L::digits * std::log10(2) + 1)));
  CHECK(L::has_infinity == f.infinity);
  CHECK(std::isinf(static_cast<float>(L::infinity())) == f.infinity);
  CHECK(std::isnan(static_cast<float>(L::quiet_NaN())));
}

TEST_CASE("a narrow float prints as the shortest decimal that rounds to it") {
  CHECK(to_string(Half(0.1f)) == "0.1");
  CHECK(to_string(Half(65504.0f)) == "65500.0");  // NumPy prints the same
  CHECK(to_string(Half::from_bits(1)) == "6e-08");
  CHECK(to_string(BFloat16(3.14159f)) == "3.14");
  CHECK(to_string(BFloat16(-0.0f)) == "-0.0");
  CHECK(to_string(Half(INFINITY)) == "inf");
  CHECK(to_string(Float8_e4m3fn(NAN)) == "nan");
  std::uint32_t wrong = 0;
  for (std::uint32_t code = 0; code < 0x7c00; ++code) {
    const Half x = Half::from_bits(static_cast<std::uint16_t>(code));
    wrong += Half(std::stod(to_string(x))).bits() != code;
  }
  CHECK(wrong == 0);
}
