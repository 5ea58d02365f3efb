// Oracles are IEEE 754: what the neighbours of a number are, and how far a rounding may be off.
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tools/keyway/conform/tolerance.h>

#include <cmath>
#include <limits>
#include <vector>

using namespace keyway;
using namespace keyway::tools;

namespace {

Tensor numbers(const std::vector<double>& values, ScalarType dtype = kFloat) {
  const Tensor tensor = empty({static_cast<std::int64_t>(values.size())}, kDouble);
  std::copy(values.begin(), values.end(), tensor.data_ptr<double>());
  return tensor.to(dtype);
}
bool passes(const Tensor& got, const Tensor& cpu, const Tensor& exact, bool is_pointwise) {
  return value_difference(got, {cpu, exact, is_pointwise}).empty();
}

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("where the CPU rounds correctly, a pointwise result must too") {
  const Tensor exact = numbers({1.0 / 3}, kDouble), cpu = numbers({1.0 / 3});
  CHECK(passes(cpu, cpu, exact, true));
  CHECK(!passes(numbers({std::nextafter(1.0f / 3, 0.0f)}), cpu, exact, true));
  const Tensor narrow = numbers({1.0 / 3}, kBFloat16);
  CHECK(passes(narrow, narrow, exact, true));
  CHECK(!passes(numbers({0.332}, kBFloat16), narrow, exact, true));  // the neighbour: cut off
}

TEST_CASE("where the CPU errs, a pointwise result may err by four times as much") {
  const double ulp = std::ldexp(1.0, -23);
  const Tensor exact = numbers({1.0}, kDouble), cpu = numbers({1 + 2 * ulp});
  CHECK(passes(numbers({1 + 8 * ulp}), cpu, exact, true));
  CHECK(!passes(numbers({1 + 9 * ulp}), cpu, exact, true));
}

TEST_CASE("where the CPU errs elsewhere, a pointwise result may err here") {
  const double ulp = std::ldexp(1.0, -23);
  const Tensor exact = numbers({1.0}, kDouble), cpu = numbers({1.0});
  Expected held{cpu, exact, true};
  CHECK(!value_difference(numbers({1 + ulp}), held).empty());
  held.error_elsewhere = 0.7;
  CHECK(value_difference(numbers({1 + 4 * ulp}), held).empty());
  CHECK(!value_difference(numbers({1 + 5 * ulp}), held).empty());
  CHECK(greatest_error(numbers({1 + ulp, 8}), numbers({1, 8}, kDouble)) == 1);
}

TEST_CASE("a sum may err by what arguments nearby give, and be NaN where these do not agree") {
  const Tensor exact = numbers({0, 0}, kDouble), cpu = numbers({0, 0});
  Expected held{cpu, exact, false};
  CHECK(!value_difference(numbers({1e-3, 0}), held).empty());
  held.nearby = {numbers({3e-4, kNaN}, kDouble)};
  CHECK(value_difference(numbers({1e-3, kInf}), held).empty());
  CHECK(!value_difference(numbers({2e-3, 0}), held).empty());
}

TEST_CASE("what the exact result is beyond the format may be an infinity, and what it is not may be finite") {
  const Tensor exact = numbers({1e60, 5}, kDouble), cpu = numbers({kNaN, kNaN});
  const Expected held{cpu, exact, false};
  CHECK(value_difference(numbers({kInf, 5}), held).empty());
  CHECK(!value_difference(numbers({-kInf, 5}), held).empty());
  CHECK(!value_difference(numbers({kInf, kInf}), held).empty());
}

TEST_CASE("a result in a wider tensor is rounded as what it was computed in") {
  const Tensor exact = numbers({1.0 / 3}, kDouble), cpu = numbers({1.0 / 3}).to(kDouble);
  Expected held{cpu, exact, true};
  held.computed_in = kFloat;
  CHECK(value_difference(cpu, held).empty());
  CHECK(!value_difference(numbers({std::nextafter(1.0f / 3, 0.0f)}).to(kDouble), held).empty());
}

TEST_CASE("sums may err by units of the greatest element") {
  const double ulp = std::ldexp(1.0, -13);  // of 1024
  const Tensor exact = numbers({1024, 0}, kDouble), cpu = numbers({1024, 0});
  CHECK(passes(numbers({1024, 16 * ulp}), cpu, exact, false));
  CHECK(!passes(numbers({1024, 17 * ulp}), cpu, exact, false));
  CHECK(!passes(numbers({1026, 0}, kHalf), numbers({1024, 0}, kHalf), exact, false));
}

TEST_CASE("NaN, infinities and the sign of zero are the CPU's") {
  for (const double special : {kInf, -kInf, kNaN}) {
    CHECK(passes(numbers({special}), numbers({special}), {}, true));
    CHECK(!passes(numbers({1}), numbers({special}), {}, true));
    CHECK(!passes(numbers({special}), numbers({1}), {}, true));
  }
  CHECK(!passes(numbers({-0.0}), numbers({0.0}), {}, true));
  CHECK(passes(numbers({-0.0}), numbers({0.0}), {}, false));
}

TEST_CASE("where float64 has no number, one may be as far from the CPU's as elsewhere") {
  const Tensor exact = numbers({kInf, kNaN}, kDouble), cpu = numbers({1024, 1024});
  CHECK(passes(numbers({1024 + std::ldexp(1.0, -10), 1024}), cpu, exact, false));
  CHECK(passes(numbers({kInf, kNaN}), cpu, exact, false));
  CHECK(!passes(numbers({1025, 1024}), cpu, exact, false));
  CHECK(!passes(numbers({1024, kInf}), cpu, exact, false));
  CHECK(!passes(numbers({1024, 1024}), numbers({1024, 1024}).neg(), exact, true));
}

TEST_CASE("a sum in float64 may err by four times what one in float32 does") {
  const double ulp = std::ldexp(1.0, -52);
  Expected held{numbers({1, 0}, kDouble), {}, false};
  CHECK(value_difference(numbers({1 + 32 * ulp, 0}, kDouble), held).empty());
  CHECK(!value_difference(numbers({1 + 33 * ulp, 0}, kDouble), held).empty());
  const double unit = std::ldexp(1.0, -23);
  held.error_in_float32 = error_of_sums(numbers({1 + 10 * unit, 5 * unit}), numbers({1, 0}, kDouble));
  CHECK(held.error_in_float32 == 10);
  CHECK(value_difference(numbers({1 + 40 * ulp, 0}, kDouble), held).empty());
  CHECK(!value_difference(numbers({1 + 41 * ulp, 0}, kDouble), held).empty());
}

TEST_CASE("a complex sum with an infinite part has any other part") {
  const auto of_parts = [](const std::vector<double>& parts) { return view_as_complex(numbers(parts).view({-1, 2})); };
  CHECK(passes(of_parts({kInf, kNaN}), of_parts({kInf, 0}), {}, false));
  CHECK(passes(of_parts({0, kNaN}), of_parts({kInf, 0}), {}, false));
  CHECK(!passes(of_parts({0, 0}), of_parts({kInf, 0}), {}, false));
  CHECK(!passes(of_parts({1, 0, kNaN, 0}), of_parts({1, 0, 1, 0}), {}, false));
  CHECK(!passes(of_parts({kInf, kNaN}), of_parts({kInf, 0}), {}, true));
}

TEST_CASE("of complex sums an infinity may stand for NaN, and no finite number for either") {
  const auto complex_of = [](double real) { return numbers({real}, kComplexFloat); };
  CHECK(passes(complex_of(-kInf), complex_of(kNaN), {}, false));
  CHECK(passes(complex_of(kNaN), complex_of(kInf), {}, false));
  CHECK(!passes(complex_of(1), complex_of(kNaN), {}, false));
  CHECK(!passes(complex_of(kNaN), complex_of(1), {}, false));
  CHECK(!passes(complex_of(-kInf), complex_of(kNaN), {}, true));
  CHECK(!passes(numbers({-kInf}), numbers({kNaN}), {}, false));
}

TEST_CASE("integers and booleans are equal or not") {
  CHECK(passes(numbers({7}, kLong), numbers({7}, kLong), {}, true));
  CHECK(!passes(numbers({8}, kLong), numbers({7}, kLong), {}, true));
  CHECK(!passes(numbers({1}, kBool), numbers({0}, kBool), {}, true));
}

TEST_CASE("the bits of NaN are equal to those of another, and zeros of other signs are not") {
  CHECK(same_bits(numbers({kNaN, 1}), numbers({-kNaN, 1})));
  CHECK(!same_bits(numbers({0.0}), numbers({-0.0})));
  CHECK(!same_bits(numbers({1}, kInt), numbers({2}, kInt)));
}
