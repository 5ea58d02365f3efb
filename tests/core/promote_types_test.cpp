#include <keyway/core/dtype/promote_types.h>
#include <keyway/tests/catch.h>

#include <limits>
#include <optional>
#include <vector>

using namespace keyway;
using keyway::testing::error_of;

namespace {

// The ordinary types by what they hold, so that "the smallest type that holds both" can be computed: an
// integer type by its number of value bits, a floating type by the bits of its mantissa and exponent.
// Smallest first.
struct Number {
  ScalarType type;
  enum { Bool, Int, Float } category;
  int negative, bits, exponent;
};
const std::vector<Number> kOrdinary = {
    {ScalarType::Bool, Number::Bool, 0, 1, 0},      {ScalarType::Byte, Number::Int, 0, 8, 0},
    {ScalarType::Char, Number::Int, 1, 7, 0},       {ScalarType::Short, Number::Int, 1, 15, 0},
    {ScalarType::UInt16, Number::Int, 0, 16, 0},    {ScalarType::Int, Number::Int, 1, 31, 0},
    {ScalarType::UInt32, Number::Int, 0, 32, 0},    {ScalarType::Long, Number::Int, 1, 63, 0},
    {ScalarType::UInt64, Number::Int, 0, 64, 0},    {ScalarType::Half, Number::Float, 1, 11, 5},
    {ScalarType::BFloat16, Number::Float, 1, 8, 8}, {ScalarType::Float, Number::Float, 1, 24, 8},
    {ScalarType::Double, Number::Float, 1, 53, 11},
};

ScalarType smallest_holding(const Number& a, const Number& b) {
  // Across categories the higher one's type decides alone.
  if (a.category != b.category) return a.category > b.category ? a.type : b.type;
  const auto holds = [](const Number& x, const Number& y) {
    return x.category == y.category && x.negative >= y.negative && x.bits >= y.bits && x.exponent >= y.exponent;
  };
  for (const Number& x : kOrdinary) {
    if (holds(x, a) && holds(x, b)) return x.type;
  }
  return ScalarType::Double;  // of uint64 and a signed type, as in NumPy
}

std::optional<Number> find(ScalarType t) {
  for (const Number& n : kOrdinary) {
    if (n.type == t) return n;
  }
  return std::nullopt;
}

const struct {
  ScalarType complex, real;
} kComplex[] = {{ScalarType::ComplexHalf, ScalarType::Half},
                {ScalarType::ComplexFloat, ScalarType::Float},
                {ScalarType::ComplexDouble, ScalarType::Double}};

// The smallest complex type whose parts hold `real`.
ScalarType complex_of(ScalarType real) {
  if (real == ScalarType::BFloat16) return ScalarType::ComplexFloat;
  for (const auto& c : kComplex) {
    if (c.real == real) return c.complex;
  }
  return ScalarType::Undefined;
}

ScalarType expected(ScalarType a, ScalarType b) {
  if (a == b) return a;
  const auto number_a = find(a), number_b = find(b);
  if (number_a && number_b) return smallest_holding(*number_a, *number_b);

  // A complex type meets another type in the complex type of what its parts and that type meet in.
  std::optional<Number> part_a = number_a, part_b = number_b;
  for (const auto& c : kComplex) {
    if (c.complex == a) part_a = find(c.real);
    if (c.complex == b) part_b = find(c.real);
  }
  if (part_a && part_b) return complex_of(smallest_holding(*part_a, *part_b));
  return ScalarType::Undefined;
}

}  // namespace

TEST_CASE("every pair of dtypes promotes by the rules, and symmetrically") {
  for (std::size_t i = 0; i <= kNumScalarTypes; ++i) {
    const auto a = static_cast<ScalarType>(i);
    CHECK(promote_types(a, a) == a);
    for (std::size_t j = 0; j <= kNumScalarTypes; ++j) {
      const auto b = static_cast<ScalarType>(j);
      CAPTURE(to_string(a), to_string(b), to_string(promote_types(a, b)), to_string(expected(a, b)));
      CHECK((promote_types(a, b) == expected(a, b)));
      CHECK((promote_types(a, b) == promote_types(b, a)));
    }
  }
}

TEST_CASE("promotion gives PyTorch's answers where one could doubt") {
  static_assert(promote_types(kByte, kChar) == kShort);
  static_assert(promote_types(kByte, kShort) == kShort);
  static_assert(promote_types(kLong, kHalf) == kHalf);
  static_assert(promote_types(kHalf, kBFloat16) == kFloat);
  static_assert(promote_types(kComplexHalf, kBFloat16) == kComplexFloat);
  static_assert(promote_types(kComplexHalf, kLong) == kComplexHalf);
  static_assert(promote_types(kComplexFloat, kDouble) == kComplexDouble);
  static_assert(promote_types(kUInt16, kHalf) == kHalf);
  static_assert(promote_types(kFloat8_e4m3fn, kFloat) == ScalarType::Undefined);
  static_assert(promote_types(kFloat8_e4m3fn, kFloat8_e4m3fn) == kFloat8_e4m3fn);
  static_assert(promote_types(kQInt8, kFloat) == ScalarType::Undefined);
  CHECK(checked_promote_types(kBool, kLong) == kLong);
  CHECK(error_of([] { checked_promote_types(kFloat8_e5m2, kFloat); }) ==
        "float8_e5m2 and float32 do not promote to a common dtype; convert one of them with to().");
}

TEST_CASE("wide unsigned types promote as the array API standard and NumPy have it") {
  static_assert(promote_types(kUInt16, kBool) == kUInt16);
  static_assert(promote_types(kUInt16, kByte) == kUInt16);
  static_assert(promote_types(kUInt16, kUInt64) == kUInt64);
  static_assert(promote_types(kUInt16, kChar) == kInt);
  static_assert(promote_types(kUInt16, kInt) == kInt);
  static_assert(promote_types(kUInt32, kInt) == kLong);
  static_assert(promote_types(kUInt64, kLong) == kDouble);
  static_assert(promote_types(kUInt16, kComplexFloat) == kComplexFloat);
}

// But for uint64, which meets signed types in float64, and those meet float16 in float16; so it is in NumPy.
TEST_CASE("promotion of ordinary types does not depend on the order of three") {
  std::vector<ScalarType> types;
  for (const Number& n : kOrdinary) {
    if (n.type != kUInt64) types.push_back(n.type);
  }
  for (const auto& c : kComplex) types.push_back(c.complex);
  int exceptions = 0;
  for (const auto a : types) {
    for (const auto b : types) {
      for (const auto c : types) {
        exceptions += promote_types(promote_types(a, b), c) != promote_types(a, promote_types(b, c));
      }
    }
  }
  CHECK(exceptions == 0);
}
