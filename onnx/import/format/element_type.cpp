#include <keyway/core/base/error.h>
#include <keyway/onnx/import/format/element_type.h>

#include <array>

namespace keyway::inline v1::onnx {

namespace {

struct ElementType {
  std::string_view name;
  ScalarType dtype = ScalarType::Undefined;  // if Keyway has it
};

constexpr std::array<ElementType, 27> kElementTypes = {{
    {},
    {"float32", kFloat},
    {"uint8", kByte},
    {"int8", kChar},
    {"uint16", kUInt16},
    {"int16", kShort},
    {"int32", kInt},
    {"int64", kLong},
    {"string"},
    {"bool", kBool},
    {"float16", kHalf},
    {"float64", kDouble},
    {"uint32", kUInt32},
    {"uint64", kUInt64},
    {"complex64", kComplexFloat},
    {"complex128", kComplexDouble},
    {"bfloat16", kBFloat16},
    {"float8_e4m3fn", kFloat8_e4m3fn},
    {"float8_e4m3fnuz", kFloat8_e4m3fnuz},
    {"float8_e5m2", kFloat8_e5m2},
    {"float8_e5m2fnuz", kFloat8_e5m2fnuz},
    {"uint4"},
    {"int4"},
    {"float4_e2m1"},
    {"float8_e8m0", kFloat8_e8m0fnu},
    {"uint2"},
    {"int2"},
}};

}  // namespace

std::string_view element_type_name(std::int64_t type) {
  return type > 0 && type < static_cast<std::int64_t>(kElementTypes.size())
             ? kElementTypes[static_cast<std::size_t>(type)].name
             : std::string_view();
}

ScalarType dtype_of_element_type(std::int64_t type) {
  const std::string_view name = element_type_name(type);
  KEYWAY_CHECK_AS(Parse, !name.empty(), "ONNX has no type of elements with the number {}", type);
  const ScalarType dtype = kElementTypes[static_cast<std::size_t>(type)].dtype;
  KEYWAY_CHECK_AS(NotImplemented, dtype != ScalarType::Undefined, "there are no tensors of {}", name);
  return dtype;
}

std::int64_t element_type_of(ScalarType dtype) {
  for (std::size_t type = 0; type < kElementTypes.size(); ++type) {
    if (kElementTypes[type].dtype == dtype && dtype != ScalarType::Undefined) return static_cast<std::int64_t>(type);
  }
  KEYWAY_FAIL(NotImplemented, "ONNX has no tensors of {}", to_string(dtype));
}

}  // namespace keyway::inline v1::onnx
