#include <keyway/core/dtype/scalar.h>
#include <keyway/tests/catch.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

using namespace keyway;
using keyway::testing::error_of;

namespace {
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();

template <typename T>
bool converts(Scalar s) {
  T result{};
  return s.try_to(result);
}
}  // namespace

TEST_CASE("a Scalar's kind follows from what it was made of") {
  CHECK(Scalar().type() == kLong);
  CHECK(Scalar(true).type() == kBool);
  CHECK(Scalar(1).type() == kLong);
  CHECK(Scalar('a').type() == kLong);
  CHECK(Scalar(std::uint64_t{5}).type() == kLong);
  CHECK(Scalar(kHuge).type() == kUInt64);
  CHECK(Scalar(1.5f).type() == kDouble);
  CHECK(Scalar(Half(1.5f)).type() == kDouble);
  CHECK(Scalar(BFloat16(1.5f)).to<double>() == 1.5);
  CHECK(Scalar(Float8_e4m3fn(1.5f)).to<double>() == 1.5);
  CHECK(Scalar(complex<Half>(1, 2)).to<complex<double>>() == complex<double>(1, 2));
  CHECK(Scalar(std::complex<float>(1, 2)).type() == kComplexDouble);
  const auto implicit = [](const Scalar& s) { return s.type(); };
  CHECK(implicit(2) == kLong);
  CHECK(implicit(2.0) == kDouble);
  CHECK(Scalar(kHuge).is_integral(false));
  CHECK(!Scalar(true).is_integral(false));
  CHECK(Scalar(true).is_integral(true));
  CHECK(Scalar(true).is_bool());
  CHECK(Scalar(1.0).is_floating_point());
  CHECK(Scalar(complex<float>(1)).is_complex());
  static_assert(Scalar(3).to<int>() == 3 && Scalar(2.5).to<std::int64_t>() == 2);
}

TEST_CASE("integers convert within the range of the target") {
  CHECK(Scalar(127).to<std::int8_t>() == 127);
  CHECK(Scalar(-128).to<std::int8_t>() == -128);
  CHECK(!converts<std::int8_t>(128));
  CHECK(!converts<std::int8_t>(-129));
  CHECK(Scalar(255).to<std::uint8_t>() == 255);
  CHECK(!converts<std::uint8_t>(256));
  CHECK(Scalar(kMin).to<std::int64_t>() == kMin);
  CHECK(Scalar(kHuge).to<std::uint64_t>() == kHuge);
  CHECK(!converts<std::int64_t>(kHuge));
  CHECK(Scalar(kHuge).to<double>() == 0x1p64);
  CHECK(Scalar(kMax).to<float>() == 0x1p63f);
  CHECK(Scalar(true).to<std::int32_t>() == 1);
}

TEST_CASE("negative integers wrap in unsigned types where their magnitude fits") {
  CHECK(Scalar(-1).to<std::uint8_t>() == 255);
  CHECK(Scalar(-255).to<std::uint8_t>() == 1);
  CHECK(!converts<std::uint8_t>(-256));
  CHECK(Scalar(-1).to<std::uint64_t>() == kHuge);
  CHECK(Scalar(kMin).to<std::uint64_t>() == std::uint64_t{1} << 63);
  CHECK(Scalar(-1.5).to<std::uint8_t>() == 255);
}

TEST_CASE("floats convert to integers by cutting off, within the range") {
  CHECK(Scalar(2.9).to<std::int64_t>() == 2);
  CHECK(Scalar(-2.9).to<std::int64_t>() == -2);
  CHECK(Scalar(-128.9).to<std::int8_t>() == -128);
  CHECK(!converts<std::int8_t>(128.0));
  CHECK(!converts<std::int8_t>(-129.0));
  CHECK(Scalar(-0x1p63).to<std::int64_t>() == kMin);
  CHECK(!converts<std::int64_t>(0x1p63));
  CHECK(Scalar(std::nextafter(0x1p63, 0.0)).to<std::int64_t>() == kMax - 1023);
  CHECK(Scalar(0x1p63).to<std::uint64_t>() == std::uint64_t{1} << 63);
  CHECK(!converts<std::uint64_t>(0x1p64));
  for (const double x : {double{NAN}, double{INFINITY}, -double{INFINITY}, 1e300}) {
    CHECK(!converts<std::int64_t>(x));
    CHECK(!converts<std::uint8_t>(x));
    CHECK(Scalar(x).to<bool>());
  }
}

TEST_CASE("floats convert to narrower floats within the range, and infinity and NaN stay") {
  CHECK(Scalar(0.1).to<float>() == 0.1f);
  CHECK(!converts<float>(1e39));
  CHECK(!converts<float>(-1e39));
  CHECK(std::isinf(Scalar(INFINITY).to<float>()));
  CHECK(std::isnan(Scalar(NAN).to<Half>()));
  CHECK(Scalar(65504).to<Half>() == 65504);
  CHECK(!converts<Half>(65505));
  CHECK(!converts<Half>(100000));
  CHECK(Scalar(100000).to<BFloat16>() == BFloat16(100000));
  CHECK(Scalar(448).to<Float8_e4m3fn>() == 448);
  CHECK(!converts<Float8_e4m3fn>(449));
  CHECK(!converts<Float8_e4m3fn>(INFINITY));
  CHECK(converts<Float8_e4m3fn>(NAN));
  CHECK(!converts<Float8_e8m0fnu>(0));
  CHECK(Scalar(4).to<Float8_e8m0fnu>() == 4);
}

TEST_CASE("complex numbers convert to real ones if they are real") {
  const Scalar z = complex<double>(3, 4), real = complex<double>(3, 0);
  CHECK(z.to<complex<float>>() == complex<float>(3, 4));
  CHECK(z.to<complex<Half>>() == complex<Half>(3, 4));
  CHECK(real.to<int>() == 3);
  CHECK(!converts<double>(z));
  CHECK(Scalar(complex<double>(0, 1)).to<bool>());
  CHECK(!Scalar(complex<double>(0, 0)).to<bool>());
  CHECK(Scalar(2).to<complex<float>>() == complex<float>(2, 0));
  CHECK(!converts<complex<float>>(complex<double>(0, 1e39)));
}

TEST_CASE("a conversion that fails names the value and the dtype") {
  CHECK(error_of([] { (void)Scalar(300).to<std::uint8_t>(); }) == "300 is outside the range of uint8");
  CHECK(error_of([] { (void)Scalar(1e39).to<float>(); }) == "1e+39 is outside the range of float32");
  CHECK(error_of([] { (void)Scalar(NAN).to<std::int64_t>(); }) == "nan is outside the range of int64");
  CHECK(error_of([] { (void)Scalar(complex<double>(1, 2)).to<float>(); }) ==
        "(1+2j) cannot become float32, which has no imaginary part; take its real part first");
  int untouched = 5;
  CHECK(!Scalar(1e30).try_to(untouched));
  CHECK(untouched == 5);
}

TEST_CASE("Scalars are equal when they are the same number, exactly") {
  CHECK(Scalar(1) == 1.0);
  CHECK(Scalar(true) == 1);
  CHECK(Scalar(1.0) == complex<double>(1, 0));
  CHECK(Scalar(0.0) == -0.0);
  CHECK(Scalar(1) != 1.5);
  CHECK(Scalar(1) != 2);
  CHECK(Scalar(-1) != kHuge);
  CHECK(Scalar(kMax) != 0x1p63);  // the nearest double, but not the same number
  CHECK(Scalar(std::uint64_t{1} << 63) == 0x1p63);
  CHECK(Scalar(std::uint64_t{1} << 63) != -0x1p63);
  CHECK(Scalar(kHuge) != 0x1p64);
  CHECK(Scalar(complex<double>(1, 1)) != 1);
  CHECK(Scalar(NAN) != NAN);
  CHECK(Scalar(INFINITY) == INFINITY);
  CHECK(Scalar(INFINITY) != kMax);
}

TEST_CASE("Scalars print as in Python") {
  CHECK(to_string(Scalar(true)) == "True");
  CHECK(to_string(Scalar(false)) == "False");
  CHECK(to_string(Scalar(-3)) == "-3");
  CHECK(to_string(Scalar(kHuge)) == "18446744073709551615");
  CHECK(to_string(Scalar(1.0)) == "1.0");
  CHECK(to_string(Scalar(0.1)) == "0.1");
  CHECK(to_string(Scalar(1e-5)) == "1e-05");
  CHECK(to_string(Scalar(-INFINITY)) == "-inf");
  CHECK(to_string(Scalar(complex<double>(1, -2))) == "(1-2j)");
}

TEST_CASE("negation, conjugation and the logarithm") {
  CHECK(-Scalar(3) == -3);
  CHECK((-Scalar(3)).type() == kLong);
  CHECK(-Scalar(1.5) == -1.5);
  CHECK(std::signbit((-Scalar(0.0)).to<double>()));
  CHECK(-Scalar(complex<double>(1, 2)) == complex<double>(-1, -2));
  CHECK(-Scalar(kMin) == std::uint64_t{1} << 63);
  CHECK(-Scalar(std::uint64_t{1} << 63) == kMin);
  CHECK(error_of([] { -Scalar(kHuge); }) == "-18446744073709551615 does not fit in int64.");
  CHECK(error_of([] { -Scalar(true); }) == "Negation is not defined for bool; True was given.");
  CHECK(Scalar(complex<double>(1, 2)).conj() == complex<double>(1, -2));
  CHECK(Scalar(5).conj() == 5);
  CHECK(Scalar(1).log() == 0.0);
  CHECK(std::isnan(Scalar(-1.0).log().to<double>()));
  const complex<double> z = Scalar(complex<double>(-1, 0)).log().to<complex<double>>();
  CHECK(std::fabs(z.imag() - std::acos(-1)) < 1e-15);
}
