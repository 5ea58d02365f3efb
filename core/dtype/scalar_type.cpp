#include <keyway/core/base/error.h>
#include <keyway/core/dtype/dtype_set.h>
#include <keyway/core/dtype/promote_types.h>
#include <keyway/core/dtype/scalar_type.h>
#include <keyway/core/dtype/visit_dtype.h>

#include <array>
#include <string>

namespace keyway::inline v1 {
namespace {

struct Names {
  std::string_view enumerator, python, schema;
};

// By number.
constexpr std::array<Names, kNumScalarTypes + 1> kNames{{
    {"Byte", "uint8", "byte"},
    {"Char", "int8", "char"},
    {"Short", "int16", "short"},
    {"Int", "int32", "int"},
    {"Long", "int64", "long"},
    {"Half", "float16", "half"},
    {"Float", "float32", "float"},
    {"Double", "float64", "double"},
    {"ComplexHalf", "complex32", "chalf"},
    {"ComplexFloat", "complex64", "cfloat"},
    {"ComplexDouble", "complex128", "cdouble"},
    {"Bool", "bool", "bool"},
    {"QInt8", "qint8", "qint8"},
    {"QUInt8", "quint8", "quint8"},
    {"QInt32", "qint32", "qint32"},
    {"BFloat16", "bfloat16", "bfloat16"},
    {"QUInt4x2", "quint4x2", "quint4x2"},
    {"QUInt2x4", "quint2x4", "quint2x4"},
    {"Bits1x8", "bits1x8", "bits1x8"},
    {"Bits2x4", "bits2x4", "bits2x4"},
    {"Bits4x2", "bits4x2", "bits4x2"},
    {"Bits8", "bits8", "bits8"},
    {"Bits16", "bits16", "bits16"},
    {"Float8_e5m2", "float8_e5m2", "float8_e5m2"},
    {"Float8_e4m3fn", "float8_e4m3fn", "float8_e4m3fn"},
    {"Float8_e5m2fnuz", "float8_e5m2fnuz", "float8_e5m2fnuz"},
    {"Float8_e4m3fnuz", "float8_e4m3fnuz", "float8_e4m3fnuz"},
    {"UInt16", "uint16", "uint16"},
    {"UInt32", "uint32", "uint32"},
    {"UInt64", "uint64", "uint64"},
    {"UInt1", "uint1", "uint1"},
    {"UInt2", "uint2", "uint2"},
    {"UInt3", "uint3", "uint3"},
    {"UInt4", "uint4", "uint4"},
    {"UInt5", "uint5", "uint5"},
    {"UInt6", "uint6", "uint6"},
    {"UInt7", "uint7", "uint7"},
    {"Int1", "int1", "int1"},
    {"Int2", "int2", "int2"},
    {"Int3", "int3", "int3"},
    {"Int4", "int4", "int4"},
    {"Int5", "int5", "int5"},
    {"Int6", "int6", "int6"},
    {"Int7", "int7", "int7"},
    {"Float8_e8m0fnu", "float8_e8m0fnu", "float8_e8m0fnu"},
    {"Float4_e2m1fn_x2", "float4_e2m1fn_x2", "float4_e2m1fn_x2"},
    {"Undefined", "undefined", "undefined"},
}};

Names names(ScalarType t) {
  const auto i = static_cast<std::size_t>(t);
  return i < kNames.size() ? kNames[i] : Names{"Invalid", "invalid", "invalid"};
}

}  // namespace

std::string_view to_string(ScalarType t) { return names(t).python; }
std::string_view enum_name(ScalarType t) { return names(t).enumerator; }
std::string_view schema_name(ScalarType t) { return names(t).schema; }

std::optional<ScalarType> try_parse_dtype(std::string_view name) {
  for (std::size_t i = 0; i < kNumScalarTypes; ++i) {
    const Names& n = kNames[i];
    if (name == n.python || name == n.schema || name == n.enumerator) return static_cast<ScalarType>(i);
  }
  return std::nullopt;
}

ScalarType parse_dtype(std::string_view name) {
  const std::optional<ScalarType> t = try_parse_dtype(name);
  KEYWAY_CHECK_AS(Type, t.has_value(), "'{}' is not a dtype; the dtypes are {}, and packed and bit types.", name,
                  kAnyTypes | kFloat8Types | kQuantizedTypes);
  return *t;
}

ScalarType checked_promote_types(ScalarType a, ScalarType b) {
  const ScalarType t = promote_types(a, b);
  KEYWAY_CHECK_AS(Type, t != ScalarType::Undefined,
                  "{} and {} do not promote to a common dtype; convert one of them with to().", a, b);
  return t;
}

std::string to_string(DtypeSet set) {
  if (set.empty()) return "no dtype";
  std::string text;
  while (!set.empty()) {
    const ScalarType t = set.first();
    set = set - t;
    if (!text.empty()) text += set.empty() ? " or " : ", ";
    text += to_string(t);
  }
  return text;
}

void detail::fail_dtype(ScalarType dtype, DtypeSet set, std::string_view what) {
  KEYWAY_FAIL(Dtype, "{} is not implemented for {}; it takes {}", what, dtype, set);
}

}  // namespace keyway::inline v1
