// AT_DISPATCH: which dtypes each macro takes, and the C++ type it gives them. The sets are those that PyTorch
// documents.
#include <keyway/tests/catch.h>

#include <ATen/Dispatch.h>
#include <string>
#include <typeinfo>
#include <vector>

using keyway::testing::error_of;

namespace {

constexpr c10::ScalarType kTypes[] = {
    at::kByte,     at::kChar,  at::kShort,  at::kInt,          at::kLong,          at::kHalf,
    at::kBFloat16, at::kFloat, at::kDouble, at::kComplexFloat, at::kComplexDouble, at::kBool,
};

// The names of the dtypes that a macro takes. The C++ type has to be that of the dtype.
template <typename Dispatch>
std::string taken(Dispatch dispatch) {
  std::string names;
  for (const c10::ScalarType type : kTypes) {
    try {
      const std::size_t size = dispatch(type);
      CHECK(size == keyway::element_size(type));
      names += " " + std::string(keyway::to_string(type));
    } catch (const c10::Error& error) {
      CHECK(std::string(error.what()).find("the name is not implemented for " + std::string(keyway::to_string(type))) ==
            0);
    }
  }
  return names;
}

}  // namespace

#define TAKEN(MACRO, ...)                                                                       \
  taken([](c10::ScalarType type) {                                                              \
    return MACRO(__VA_ARGS__ __VA_OPT__(, ) type, "the name", [] { return sizeof(scalar_t); }); \
  })

TEST_CASE("each set takes its dtypes, and another one is an error that names it") {
  const std::string integral = " uint8 int8 int16 int32 int64", floating = " float32 float64";
  const std::string complex = " complex64 complex128";
  CHECK(TAKEN(AT_DISPATCH_FLOATING_TYPES) == floating);
  CHECK(TAKEN(AT_DISPATCH_FLOATING_TYPES_AND_HALF) == " float16" + floating);
  CHECK(TAKEN(AT_DISPATCH_REDUCED_FLOATING_TYPES) == " float16 bfloat16");
  CHECK(TAKEN(AT_DISPATCH_COMPLEX_TYPES) == complex);
  CHECK(TAKEN(AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES) == floating + complex);
  CHECK(TAKEN(AT_DISPATCH_INTEGRAL_TYPES) == integral);
  CHECK(TAKEN(AT_DISPATCH_ALL_TYPES) == integral + floating);
  CHECK(TAKEN(AT_DISPATCH_ALL_TYPES_AND_COMPLEX) == integral + floating + complex);

  CHECK(TAKEN(AT_DISPATCH_FLOATING_TYPES_AND2, at::kHalf, at::kBool) == " float16" + floating + " bool");
  CHECK(TAKEN(AT_DISPATCH_FLOATING_TYPES_AND4, at::kHalf, at::kBool, at::kInt, at::kLong) ==
        " int32 int64 float16" + floating + " bool");
  CHECK(TAKEN(AT_DISPATCH_INTEGRAL_TYPES_AND, at::kBool) == integral + " bool");
  CHECK(TAKEN(AT_DISPATCH_COMPLEX_TYPES_AND, at::kHalf) == " float16" + complex);
  CHECK(TAKEN(AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND6, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong,
              at::kBool) == integral + floating + complex + " bool");
  CHECK(TAKEN(AT_DISPATCH_ALL_TYPES_AND3, at::kHalf, at::kBFloat16, at::kBool) ==
        integral + " float16 bfloat16" + floating + " bool");
  CHECK(TAKEN(AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3, at::kHalf, at::kBFloat16, at::kBool) ==
        integral + " float16 bfloat16" + floating + complex + " bool");
}

TEST_CASE("a switch has cases of its own, and an index its name") {
  const auto bits = [](c10::ScalarType type) {
    return AT_DISPATCH_SWITCH(type, "bits", AT_DISPATCH_CASE_INTEGRAL_TYPES([] {
                                return 8 * sizeof(scalar_t);
                              }) AT_DISPATCH_CASE(at::kBool, [] { return std::size_t{1}; }));
  };
  CHECK(bits(at::kShort) == 16);
  CHECK(bits(at::kBool) == 1);
  CHECK(error_of([&] { bits(at::kFloat); }).find("bits is not implemented for float32") == 0);
  const auto index_size = [](c10::ScalarType type) {
    return AT_DISPATCH_INDEX_TYPES(type, "index", [] { return sizeof(index_t); });
  };
  CHECK((index_size(at::kInt) == 4 && index_size(at::kLong) == 8));
  CHECK_THROWS_AS(index_size(at::kShort), c10::Error);
}
