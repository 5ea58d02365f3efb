#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/tests/catch.h>

#include <type_traits>

using namespace keyway;
using keyway::testing::error_of;

TEST_CASE("visit_dtype calls with the C++ type of the dtype and returns the result") {
  for (std::size_t i = 0; i < kNumScalarTypes; ++i) {
    const auto t = static_cast<ScalarType>(i);
    if (!kCppTypes.contains(t)) continue;
    CHECK((visit_all(t, "identity", []<typename T>() { return cpp_type_to_scalar_type<T>; }) == t));
    CHECK(visit_all(t, "size", []<typename T>() { return sizeof(T); }) == element_size(t));
  }
  int calls = 0;
  visit_real(kInt, "count", [&]<typename T>() { calls += std::is_same_v<T, std::int32_t>; });
  CHECK(calls == 1);
}

TEST_CASE("only the types of the set are instantiated") {
  const auto only_float = []<typename T>() {
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
    return sizeof(T);
  };
  CHECK(visit_dtype<DtypeSet{kFloat, kDouble}>(kDouble, "f", only_float) == 8);
  static_assert(visit_dtype<DtypeSet{kFloat, kDouble}>(kFloat, "f", []<typename T>() { return sizeof(T); }) == 4);
}

TEST_CASE("a dtype outside the set is an error that names it and the set") {
  const auto visit = [](ScalarType t) { visit_floating(t, "erf", []<typename T>() {}); };
  CHECK(error_of([&] { visit(kComplexFloat); }) ==
        "erf is not implemented for complex64; it takes float16, float32, float64 or bfloat16");
  CHECK(error_of([&] { visit(ScalarType::Undefined); }).find("erf is not implemented for undefined;") == 0);
  CHECK(error_of([&] { visit(static_cast<ScalarType>(100)); }).find("erf is not implemented for invalid;") == 0);
  try {
    visit(kLong);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Dtype);
  }
}
