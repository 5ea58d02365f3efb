#include <keyway/ops/functors/activation.h>
#include <keyway/ops/functors/arithmetic.h>
#include <keyway/ops/functors/bitwise.h>
#include <keyway/ops/functors/comparison.h>
#include <keyway/ops/functors/copy.h>
#include <keyway/ops/functors/division.h>
#include <keyway/ops/functors/exponential.h>
#include <keyway/ops/functors/extrema.h>
#include <keyway/ops/functors/reduction.h>
#include <keyway/ops/functors/rounding.h>
#include <keyway/ops/functors/select.h>
#include <keyway/ops/functors/sigmoid.h>
#include <keyway/ops/functors/sign.h>
#include <keyway/ops/functors/trigonometric.h>
#include <keyway/tests/catch.h>

#include <cmath>
#include <limits>

using namespace keyway;

namespace {
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr auto kMin32 = std::numeric_limits<std::int32_t>::min();
constexpr auto kMax32 = std::numeric_limits<std::int32_t>::max();
}  // namespace

TEST_CASE("integer arithmetic wraps around") {
  CHECK(Add<std::int32_t>{1}(kMax32, 1) == kMin32);
  CHECK(Sub<std::int32_t>{1}(kMin32, 1) == kMax32);
  CHECK(Mul<std::int16_t>{}(-32768, -32768) == 0);
  CHECK(Mul<std::uint16_t>{}(65535, 65535) == 1);
  CHECK(Mul<std::int64_t>{}(std::numeric_limits<std::int64_t>::min(), -1) == std::numeric_limits<std::int64_t>::min());
  CHECK(Neg<std::int32_t>{}(kMin32) == kMin32);
  CHECK(Neg<std::uint8_t>{}(1) == 255);
  CHECK(Abs<std::int8_t>{}(-128) == -128);
  CHECK(Add<bool>{true}(true, true) == true);
}

TEST_CASE("integer division: floor, truncation and remainders for all signs, and nothing traps") {
  for (int a = -128; a < 128; ++a) {
    for (int b = -128; b < 128; ++b) {
      const auto x = static_cast<std::int8_t>(a), y = static_cast<std::int8_t>(b);
      if (b == 0) {
        CHECK_FALSE(DivFloor<std::int8_t>{}.accepts(x, y));
        (void)DivFloor<std::int8_t>{}(x, y);
        (void)Remainder<std::int8_t>{}(x, y);
        continue;
      }
      const int floor = static_cast<int>(std::floor(static_cast<double>(a) / b));
      REQUIRE(DivFloor<std::int8_t>{}(x, y) == static_cast<std::int8_t>(floor));
      REQUIRE(DivTrunc<std::int8_t>{}(x, y) == static_cast<std::int8_t>(a / b));
      REQUIRE(Remainder<std::int8_t>{}(x, y) == static_cast<std::int8_t>(a - floor * b));
      REQUIRE(Fmod<std::int8_t>{}(x, y) == static_cast<std::int8_t>(a % b));
    }
  }
  CHECK(DivTrunc<std::int32_t>{}(kMin32, -1) == kMin32);
  CHECK(DivFloor<std::int64_t>{}(std::numeric_limits<std::int64_t>::min(), -1) ==
        std::numeric_limits<std::int64_t>::min());
  CHECK(Remainder<std::int32_t>{}(kMin32, -1) == 0);
}

TEST_CASE("floating floor division and remainder are Python's") {
  CHECK(DivFloor<float>{}(7.0f, -2.0f) == -4.0f);
  CHECK(DivFloor<double>{}(1.0, 0.1) == 9.0);  // 0.1 is a little more than a tenth
  CHECK(Remainder<float>{}(-7.0f, 3.0f) == 2.0f);
  CHECK(Remainder<float>{}(7.0f, -3.0f) == -2.0f);
  CHECK(DivFloor<float>{}(1.0f, 0.0f) == kInf);
  CHECK(is_nan(DivFloor<float>{}(0.0f, 0.0f)));
  CHECK(is_nan(Remainder<float>{}(1.0f, 0.0f)));
  CHECK(std::signbit(DivFloor<float>{}(-0.0f, 1.0f)));
}

TEST_CASE("integer powers") {
  CHECK(Pow<std::int32_t>{}(3, 4) == 81);
  CHECK(Pow<std::int32_t>{}(0, 0) == 1);
  CHECK(Pow<std::int32_t>{}(2, -1) == 0);
  CHECK(Pow<std::int32_t>{}(1, -5) == 1);
  CHECK(Pow<std::int32_t>{}(-1, -5) == -1);
  CHECK(Pow<std::int32_t>{}(-1, -4) == 1);
  CHECK(Pow<std::uint8_t>{}(2, 9) == 0);
  CHECK(Pow<std::int32_t>{}(2, 31) == kMin32);
}

TEST_CASE("NaN is passed on by maximum, minimum, clamp, relu and hardtanh") {
  CHECK(is_nan(Maximum<float>{}(kNan, 1)));
  CHECK(is_nan(Maximum<float>{}(1, kNan)));
  CHECK(is_nan(Minimum<float>{}(kNan, 1)));
  CHECK(is_nan(Minimum<float>{}(1, kNan)));
  CHECK(Fmax<float>{}(kNan, 1) == 1);
  CHECK(Fmin<float>{}(1, kNan) == 1);
  CHECK(is_nan(Clamp<float>{Optional<Rounded<float>>{{0}, true}, {}}(kNan)));
  CHECK(is_nan(Clamp<float>{Optional<Rounded<float>>{{kNan}, true}, {}}(1)));
  CHECK(Clamp<float>{Optional<Rounded<float>>{{3}, true}, Optional<Rounded<float>>{{2}, true}}(0) == 2);
  CHECK(Clamp<std::uint8_t>{Optional<std::int64_t>{-3, true}, Optional<std::int64_t>{300, true}}(7) == 7);
  CHECK(Clamp<std::uint8_t>{Optional<std::int64_t>{}, Optional<std::int64_t>{-3, true}}(7) == 0);
  CHECK(is_nan(Relu<float>{}(kNan)));
  CHECK(is_nan(Hardtanh<float>{{-1}, {1}}(kNan)));
  CHECK(Maximum<bool>{}(false, true));
}

TEST_CASE("shifts are defined for every count") {
  CHECK(BitwiseLeftShift<std::int32_t>{}(1, 31) == kMin32);
  CHECK(BitwiseLeftShift<std::int32_t>{}(1, 32) == 0);
  CHECK(BitwiseLeftShift<std::int32_t>{}(1, -1) == 0);
  CHECK(BitwiseRightShift<std::int32_t>{}(-8, 1) == -4);
  CHECK(BitwiseRightShift<std::int32_t>{}(-8, 40) == -1);
  CHECK(BitwiseRightShift<std::int8_t>{}(-8, -1) == -1);
  CHECK(BitwiseRightShift<std::uint8_t>{}(255, 8) == 0);
  CHECK(BitwiseNot<bool>{}(true) == false);
}

TEST_CASE("rounding halves goes to even") {
  CHECK(Round<float>{}(0.5f) == 0.0f);
  CHECK(Round<float>{}(1.5f) == 2.0f);
  CHECK(Round<float>{}(-2.5f) == -2.0f);
  CHECK(Round<std::int32_t>{}(3) == 3);
}

TEST_CASE("infinity added to infinity stays, also for complex numbers") {
  const complex<float> inf(kInf, 0);
  CHECK(Add<complex<float>>{1}(inf, inf) == inf);
  CHECK(IsNan<complex<float>>{}(complex<float>(0, kNan)));
  CHECK(IsInf<complex<float>>{}(complex<float>(0, -kInf)));
}

TEST_CASE("conversion of floats to integers is defined everywhere") {
  CHECK(Cast<std::int32_t, float>{}(-1.9f) == -1);
  CHECK(Cast<std::int32_t, float>{}(1e20f) == kMax32);
  CHECK(Cast<std::int32_t, float>{}(-1e20f) == kMin32);
  CHECK(Cast<std::int32_t, double>{}(2147483647.0) == kMax32);
  CHECK(Cast<std::int32_t, double>{}(2147483647.5) == kMax32);
  CHECK(Cast<std::int32_t, double>{}(-2147483648.5) == kMin32);
  CHECK(Cast<std::int32_t, float>{}(kNan) == 0);
  CHECK(Cast<std::uint8_t, float>{}(-1.0f) == 255);
  CHECK(Cast<std::int8_t, float>{}(300.0f) == 44);
  CHECK(Cast<std::int64_t, double>{}(0x1p63) == std::numeric_limits<std::int64_t>::max());
  CHECK(Cast<std::uint64_t, double>{}(-1.0) == ~std::uint64_t{0});
  CHECK(Cast<std::uint64_t, double>{}(0x1p63) == std::uint64_t{1} << 63);
  CHECK(Cast<std::uint64_t, double>{}(0x1p65) == ~std::uint64_t{0});
  CHECK(Cast<std::uint64_t, float>{}(kNan) == 0);
  CHECK(Cast<bool, float>{}(kNan));
  CHECK(Cast<bool, complex<float>>{}(complex<float>(0, 1)));
  CHECK(Cast<float, complex<double>>{}(complex<double>(2, 1)) == 2.0f);
  CHECK(Cast<complex<Half>, std::int32_t>{}(3) == complex<Half>(Half(3)));
  CHECK(Cast<Half, double>{}(1 + 0x1p-11 + 0x1p-40) == Half(1 + 0x1p-10f));
}

TEST_CASE("the mean of merged moments is that of all elements, also where it is infinite") {
  constexpr float kGreat = 3e38f;
  const auto mean_of = [](float a, float b) { return merged(Moments<float>{a, 0, 1}, Moments<float>{b, 0, 3}).mean; };
  CHECK(mean_of(2, 6) == 5);
  CHECK(mean_of(kInf, kInf) == kInf);
  CHECK(mean_of(-kInf, 1) == -kInf);
  CHECK(mean_of(1, kInf) == kInf);
  CHECK(std::isnan(mean_of(kInf, -kInf)));
  CHECK(std::abs(mean_of(-kGreat, kGreat) / (kGreat / 2) - 1) < 1e-6f);
  CHECK(merged(Moments<float>{2, 5, 1}, Moments<float>{6, 7, 3}).squares == 24);
}

TEST_CASE("gelu takes its form from the argument") {
  const double x = 1.5;
  CHECK(Gelu<double>{"none"}(x) == Approx(0.5 * x * (1 + std::erf(x / std::sqrt(2.0)))));
  const double u = std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x);
  CHECK(Gelu<double>{"tanh"}(x) == Approx(0.5 * x * (1 + std::tanh(u))));
}

TEST_CASE("gradients of activations agree with differences") {
  const auto check = [](const auto& f, const auto& backward, bool from_result) {
    for (const double x : {-4.3, -2.1, -0.7, -0.2, 0.3, 0.9, 2.2, 5.7}) {
      const double h = 1e-6;
      const double slope = (f(x + h) - f(x - h)) / (2 * h);
      CHECK(backward(2.0, from_result ? f(x) : x) == Approx(2 * slope).margin(1e-6));
    }
  };
  check(Gelu<double>{"none"}, GeluBackward<double>{"none"}, false);
  check(Gelu<double>{"tanh"}, GeluBackward<double>{"tanh"}, false);
  check(Silu<double>{}, SiluBackward<double>{}, false);
  check(Mish<double>{}, MishBackward<double>{}, false);
  check(Sigmoid<double>{}, SigmoidBackward<double>{}, true);
  check(Tanh<double>{}, TanhBackward<double>{}, true);
  check(Relu<double>{}, ThresholdBackward<double>{0}, false);
  check(LeakyRelu<double>{0.1}, LeakyReluBackward<double>{0.1, false}, false);
  check(Elu<double>{1.5, 2.0, 0.7}, EluBackward<double>{1.5, 2.0, 0.7, false}, false);
  check(Elu<double>{1.5, 2.0, 0.7}, EluBackward<double>{1.5, 2.0, 0.7, true}, true);
  check(Hardtanh<double>{{-1}, {1}}, HardtanhBackward<double>{-1, 1}, false);
  check(Hardsigmoid<double>{}, HardsigmoidBackward<double>{}, false);
  check(Hardswish<double>{}, HardswishBackward<double>{}, false);
  check(Softplus<double>{1.3, 20}, SoftplusBackward<double>{1.3, 20}, false);
}
