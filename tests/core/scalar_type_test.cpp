#include <keyway/core/dtype/cpp_type.h>
#include <keyway/core/dtype/dtype_set.h>
#include <keyway/core/dtype/scalar_type.h>
#include <keyway/tests/catch.h>

#include <limits>
#include <set>
#include <string>

using namespace keyway;
using keyway::testing::error_of;

namespace {
template <typename Check>
void for_all_types(Check check) {
  for (std::size_t i = 0; i < kNumScalarTypes; ++i) check(static_cast<ScalarType>(i));
}
}  // namespace

TEST_CASE("numbers of dtypes are PyTorch's") {
  static_assert(static_cast<int>(kByte) == 0 && static_cast<int>(kLong) == 4 && static_cast<int>(kDouble) == 7);
  static_assert(static_cast<int>(kBool) == 11 && static_cast<int>(kQInt32) == 14 && static_cast<int>(kBFloat16) == 15);
  static_assert(static_cast<int>(kFloat8_e5m2) == 23 && static_cast<int>(kFloat8_e4m3fnuz) == 26);
  static_assert(static_cast<int>(kUInt16) == 27 && static_cast<int>(kUInt64) == 29);
  static_assert(static_cast<int>(kFloat8_e8m0fnu) == 44 && static_cast<int>(ScalarType::Undefined) == 46);
}

TEST_CASE("every dtype reads back from each of its names") {
  for_all_types([](ScalarType t) {
    CHECK((parse_dtype(to_string(t)) == t));
    CHECK((parse_dtype(enum_name(t)) == t));
    CHECK((parse_dtype(schema_name(t)) == t));
  });
}

TEST_CASE("names are those that PyTorch users write") {
  CHECK(to_string(kFloat) == "float32");
  CHECK(enum_name(kFloat) == "Float");
  CHECK(schema_name(kFloat) == "float");
  CHECK(schema_name(kLong) == "long");
  CHECK(to_string(kComplexDouble) == "complex128");
  CHECK(schema_name(kComplexHalf) == "chalf");
  CHECK(parse_dtype("int") == kInt);
  CHECK(parse_dtype("byte") == kUInt8);
  CHECK(parse_dtype("double") == kFloat64);
  CHECK(to_string(ScalarType::Undefined) == "undefined");
  CHECK(to_string(static_cast<ScalarType>(47)) == "invalid");
  CHECK(to_string(static_cast<ScalarType>(-1)) == "invalid");
}

TEST_CASE("text that is no dtype is refused") {
  for (const char* text : {"", "float31", "undefined", "Undefined", "FLOAT", " float", "float32 "}) {
    CAPTURE(text);
    CHECK(!try_parse_dtype(text));
    CHECK(error_of([&] { parse_dtype(text); }).find("' is not a dtype; the dtypes are uint8, int8") !=
          std::string::npos);
  }
}

namespace {
// What a dtype's C++ type says about itself must agree with what the dtype says.
template <ScalarType t>
void check_cpp_type() {
  using T = cpp_type_t<t>;
  static_assert(cpp_type_to_scalar_type<T> == t && std::is_same_v<typename ScalarTypeToCPPType<t>::type, T>);
  static_assert(sizeof(T) == element_size(t) && std::is_trivially_copyable_v<T>);
  static_assert(is_complex(t) == kIsComplex<T>);
  if constexpr (kAnyTypes.contains(t) && !kIsComplex<T>) {
    static_assert(is_signed(t) == std::numeric_limits<T>::is_signed);
    static_assert(is_integral(t, true) == std::numeric_limits<T>::is_integer);
    static_assert(is_floating_point(t) == !std::numeric_limits<T>::is_integer);
  }
}
template <DtypeSet set>
void check_cpp_types() {
  constexpr ScalarType first = set.first();
  check_cpp_type<first>();
  if constexpr (set.size() > 1) check_cpp_types<set - first>();
}
}  // namespace

TEST_CASE("a dtype and its C++ type agree") {
  check_cpp_types<kCppTypes>();
  static_assert(ElementType<float> && ElementType<BFloat16> && !ElementType<char*> && !ElementType<long double>);
  static_assert(std::is_same_v<opmath_t<Half>, float> && std::is_same_v<opmath_t<complex<Half>>, complex<float>>);
  static_assert(std::is_same_v<opmath_t<std::int32_t>, std::int32_t>);
}

TEST_CASE("every dtype is of one kind, and the sets agree with the predicates") {
  for_all_types([](ScalarType t) {
    CAPTURE(to_string(t));
    CHECK(is_integral(t, false) + is_bool(t) + is_floating_point(t) + is_complex(t) + is_quantized(t) + is_bits(t) +
              is_sub_byte_integral(t) ==
          1);
    CHECK(kIntegralTypes.contains(t) == is_integral(t, false));
    CHECK(kComplexTypes.contains(t) == is_complex(t));
    CHECK(kFloat8Types.contains(t) == is_float8(t));
    CHECK(kQuantizedTypes.contains(t) == is_quantized(t));
    CHECK(kBitsTypes.contains(t) == is_bits(t));
    CHECK(kCppTypes.contains(t) == !(is_sub_byte_integral(t) || t == ScalarType::Float4_e2m1fn_x2));
  });
  CHECK(!is_signed(kFloat8_e8m0fnu));
  CHECK(is_signed(kQInt8));
  CHECK(!is_signed(kQUInt8));
  CHECK(element_size(ScalarType::Undefined) == 0);
  CHECK(element_size(ScalarType::Int3) == 1);
}

TEST_CASE("related types are PyTorch's") {
  static_assert(to_real(kComplexHalf) == kHalf && to_real(kComplexDouble) == kDouble && to_real(kInt) == kInt);
  static_assert(to_complex(kBFloat16) == kComplexFloat && to_complex(kDouble) == kComplexDouble);
  static_assert(to_complex(kComplexHalf) == kComplexHalf && to_complex(kLong) == ScalarType::Undefined);
  static_assert(opmath_type(kHalf) == kFloat && opmath_type(kFloat8_e5m2) == kFloat && opmath_type(kByte) == kByte);
  static_assert(accumulate_type(kByte) == kLong && accumulate_type(kBool) == kLong &&
                accumulate_type(kFloat) == kFloat);
  static_assert(accumulate_type(kBFloat16) == kFloat && accumulate_type(kComplexHalf) == kComplexFloat);
}

TEST_CASE("results go into outputs of the same category or a higher one") {
  for_all_types([](ScalarType from) {
    for_all_types([from](ScalarType to) {
      const bool refused = (is_complex(from) && !is_complex(to)) ||
                           (is_floating_point(from) && is_integral(to, true)) || (!is_bool(from) && is_bool(to));
      CAPTURE(to_string(from), to_string(to));
      CHECK(can_cast(from, to) == !refused);
    });
  });
  static_assert(can_cast(kDouble, kHalf) && can_cast(kLong, kByte) && can_cast(kInt, kHalf) && !can_cast(kFloat, kInt));
}

TEST_CASE("a DtypeSet holds what it was made of") {
  constexpr DtypeSet set{kFloat, kInt, kFloat8_e8m0fnu};
  static_assert(set.size() == 3 && set.contains(kInt) && !set.contains(kLong) && set.first() == kInt);
  static_assert((set - DtypeSet(kInt)).first() == kFloat && (set | kLong).size() == 4 &&
                (set & kInt) == DtypeSet(kInt));
  static_assert(kRealTypes.contains(kFloatingTypes) && !kFloatingTypes.contains(kRealTypes));
  static_assert(!DtypeSet{ScalarType::Undefined}.contains(ScalarType::Undefined) && DtypeSet().empty());
  CHECK(to_string(set) == "int32, float32 or float8_e8m0fnu");
  CHECK(to_string(DtypeSet(kBool)) == "bool");
  CHECK(to_string(DtypeSet()) == "no dtype");
  CHECK(to_string(kFloatingTypes) == "float16, float32, float64 or bfloat16");
}
