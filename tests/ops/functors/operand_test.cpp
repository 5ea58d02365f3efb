// A number as the operand of a functor.
#include <keyway/core/dtype/scalar.h>
#include <keyway/ops/functors/operand.h>
#include <keyway/tests/catch.h>

#include <cmath>
#include <cstdint>
#include <limits>

using namespace keyway;

namespace {

template <typename T>
T as(const Scalar& number) {
  const T element = operand(number);
  return element;
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("an operand beyond a floating range is infinity") {
  CHECK(as<float>(1e39) == kInfinity);
  CHECK(as<float>(-1e39) == -kInfinity);
  CHECK(static_cast<float>(as<Half>(1e6)) == kInfinity);
  CHECK(static_cast<float>(as<Half>(-70000)) == -kInfinity);
  CHECK(as<complex<float>>(complex<double>(1, -1e39)) == complex<float>(1, -kInfinity));
  CHECK(as<complex<float>>(1e39) == complex<float>(kInfinity, 0));
}

TEST_CASE("other operands are what they are") {
  CHECK(as<float>(0.5) == 0.5F);
  CHECK(as<double>(1e39) == 1e39);
  CHECK(std::isnan(as<float>(NAN)));
  CHECK(as<std::int8_t>(7) == 7);
  CHECK(as<bool>(0.25));
}

TEST_CASE("integers wrap around") {
  CHECK(as<std::int8_t>(300) == 44);
  CHECK(as<std::uint8_t>(-1) == 255);
  CHECK(as<std::int32_t>((std::int64_t{1} << 40) + 7) == 7);
  CHECK(as<std::int64_t>(std::uint64_t{1} << 63) == INT64_MIN);
}

TEST_CASE("floats that no integer is near and imaginary parts are refused") {
  CHECK_THROWS_AS(as<std::int64_t>(1e39), Error);
  CHECK_THROWS_AS(as<float>(complex<double>(1, 2)), Error);
  CHECK_THROWS_AS(as<float>(complex<double>(1e39, 2)), Error);
}
