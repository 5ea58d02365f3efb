// Comparisons of integers with what no dtype holds beside them.
#include <keyway/ops/functors/three_way.h>
#include <keyway/tests/catch.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

using namespace keyway;

namespace {

// Around every power of two, and others of all sizes.
template <typename I>
std::vector<I> integers_of_all_sizes() {
  std::mt19937_64 rng(1);
  std::vector<I> found{std::numeric_limits<I>::min(), std::numeric_limits<I>::max()};
  for (int exponent = 0; exponent < 64; ++exponent) {
    for (std::uint64_t step = 0; step < 5; ++step) {
      const std::uint64_t near = (std::uint64_t{1} << exponent) + step - 2;
      found.insert(found.end(), {static_cast<I>(near), static_cast<I>(0 - near)});
    }
    found.push_back(static_cast<I>(rng() >> exponent));
  }
  return found;
}

template <typename T>
float sign_of_difference(T a, T b) {
  return a < b ? -1.0f : a > b ? 1.0f : 0.0f;
}

template <typename I>
void check_with_floats() {
  static_assert(std::numeric_limits<long double>::digits >= 64, "an x87 long double has all 64-bit integers");
  const std::vector<I> integers = integers_of_all_sizes<I>();
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  std::vector<double> floats{0.0, -0.0, kInfinite, -kInfinite, 0x1p63, -0x1p63, 0x1p64, 5e-324, -5e-324, 1e300, -1e300};
  for (const I integer : integers) {
    const auto x = static_cast<double>(integer);
    floats.insert(floats.end(), {x, std::nextafter(x, kInfinite), std::nextafter(x, -kInfinite), x + 0.5});
  }
  const CompareWithFloat<I> compare;
  std::int64_t wrong = 0;
  for (const I a : integers) {
    for (const double b : floats) {
      wrong += compare(a, b) != sign_of_difference(static_cast<long double>(a), static_cast<long double>(b)) ? 1 : 0;
    }
    CHECK(std::isnan(compare(a, std::numeric_limits<double>::quiet_NaN())));
  }
  CHECK(wrong == 0);
}

template <typename I>
void check_with_unsigned() {
  const std::vector<I> integers = integers_of_all_sizes<I>();
  const CompareWithUnsigned<I> compare;
  std::int64_t wrong = 0;
  for (const I a : integers) {
    for (const std::uint64_t b : integers_of_all_sizes<std::uint64_t>()) {
      wrong += compare(a, b) != sign_of_difference(static_cast<long double>(a), static_cast<long double>(b)) ? 1 : 0;
    }
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("integers compare with floats as numbers that have all digits of both") {
  check_with_floats<std::int64_t>();
  check_with_floats<std::uint64_t>();
}

TEST_CASE("integers compare with unsigned ones as numbers that have all digits of both") {
  check_with_unsigned<std::int64_t>();
  check_with_unsigned<std::uint64_t>();
}
