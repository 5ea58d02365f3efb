// ScalarType: the type of a tensor's elements (its dtype); its names and properties. Its C++ type is in
// cpp_type.h, promotion in promote_types.h, sets in dtype_set.h, the switch over dtypes in visit_dtype.h.
#pragma once

#include <keyway/core/base/macros.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace keyway::inline v1 {

// Names and numbers are PyTorch's. UInt1 to Int7 and Float4_e2m1fn_x2 exist as names of packed storage: they
// have a size, but no C++ type and no arithmetic.
enum class ScalarType : std::int8_t {
  Byte = 0,
  Char = 1,
  Short = 2,
  Int = 3,
  Long = 4,
  Half = 5,
  Float = 6,
  Double = 7,
  ComplexHalf = 8,
  ComplexFloat = 9,
  ComplexDouble = 10,
  Bool = 11,
  QInt8 = 12,
  QUInt8 = 13,
  QInt32 = 14,
  BFloat16 = 15,
  QUInt4x2 = 16,
  QUInt2x4 = 17,
  Bits1x8 = 18,
  Bits2x4 = 19,
  Bits4x2 = 20,
  Bits8 = 21,
  Bits16 = 22,
  Float8_e5m2 = 23,
  Float8_e4m3fn = 24,
  Float8_e5m2fnuz = 25,
  Float8_e4m3fnuz = 26,
  UInt16 = 27,
  UInt32 = 28,
  UInt64 = 29,
  UInt1 = 30,
  UInt2 = 31,
  UInt3 = 32,
  UInt4 = 33,
  UInt5 = 34,
  UInt6 = 35,
  UInt7 = 36,
  Int1 = 37,
  Int2 = 38,
  Int3 = 39,
  Int4 = 40,
  Int5 = 41,
  Int6 = 42,
  Int7 = 43,
  Float8_e8m0fnu = 44,
  Float4_e2m1fn_x2 = 45,
  Undefined = 46,
};
// How many there are, without Undefined.
inline constexpr std::size_t kNumScalarTypes = 46;

inline constexpr ScalarType kByte = ScalarType::Byte, kUInt8 = ScalarType::Byte;
inline constexpr ScalarType kChar = ScalarType::Char, kInt8 = ScalarType::Char;
inline constexpr ScalarType kShort = ScalarType::Short, kInt16 = ScalarType::Short;
inline constexpr ScalarType kInt = ScalarType::Int, kInt32 = ScalarType::Int;
inline constexpr ScalarType kLong = ScalarType::Long, kInt64 = ScalarType::Long;
inline constexpr ScalarType kUInt16 = ScalarType::UInt16;
inline constexpr ScalarType kUInt32 = ScalarType::UInt32;
inline constexpr ScalarType kUInt64 = ScalarType::UInt64;
inline constexpr ScalarType kHalf = ScalarType::Half, kFloat16 = ScalarType::Half;
inline constexpr ScalarType kFloat = ScalarType::Float, kFloat32 = ScalarType::Float;
inline constexpr ScalarType kDouble = ScalarType::Double, kFloat64 = ScalarType::Double;
inline constexpr ScalarType kBFloat16 = ScalarType::BFloat16;
inline constexpr ScalarType kComplexHalf = ScalarType::ComplexHalf;
inline constexpr ScalarType kComplexFloat = ScalarType::ComplexFloat;
inline constexpr ScalarType kComplexDouble = ScalarType::ComplexDouble;
inline constexpr ScalarType kBool = ScalarType::Bool;
inline constexpr ScalarType kQInt8 = ScalarType::QInt8;
inline constexpr ScalarType kQUInt8 = ScalarType::QUInt8;
inline constexpr ScalarType kQInt32 = ScalarType::QInt32;
inline constexpr ScalarType kFloat8_e5m2 = ScalarType::Float8_e5m2;
inline constexpr ScalarType kFloat8_e4m3fn = ScalarType::Float8_e4m3fn;
inline constexpr ScalarType kFloat8_e5m2fnuz = ScalarType::Float8_e5m2fnuz;
inline constexpr ScalarType kFloat8_e4m3fnuz = ScalarType::Float8_e4m3fnuz;
inline constexpr ScalarType kFloat8_e8m0fnu = ScalarType::Float8_e8m0fnu;

// "float32", as Python has it; "undefined", and "invalid" for what is no ScalarType.
KEYWAY_API std::string_view to_string(ScalarType t);
// "Float", the enumerator's name.
KEYWAY_API std::string_view enum_name(ScalarType t);
// "float", "long": PyTorch's short name, which the schema language uses; where there is none, the same as
// to_string().
KEYWAY_API std::string_view schema_name(ScalarType t);
// The dtype of any of these names; nullopt for other text.
KEYWAY_API std::optional<ScalarType> try_parse_dtype(std::string_view name);
// The same; throws Error(Type) that lists the names.
KEYWAY_API ScalarType parse_dtype(std::string_view name);

constexpr bool is_bool(ScalarType t) { return t == ScalarType::Bool; }
constexpr bool is_quantized(ScalarType t) {
  return (t >= ScalarType::QInt8 && t <= ScalarType::QInt32) || t == ScalarType::QUInt4x2 || t == ScalarType::QUInt2x4;
}
constexpr bool is_bits(ScalarType t) { return t >= ScalarType::Bits1x8 && t <= ScalarType::Bits16; }
constexpr bool is_float8(ScalarType t) {
  return (t >= ScalarType::Float8_e5m2 && t <= ScalarType::Float8_e4m3fnuz) || t == ScalarType::Float8_e8m0fnu;
}
// UInt1 to UInt7 and Int1 to Int7.
constexpr bool is_sub_byte_integral(ScalarType t) { return t >= ScalarType::UInt1 && t <= ScalarType::Int7; }
constexpr bool is_complex(ScalarType t) { return t >= ScalarType::ComplexHalf && t <= ScalarType::ComplexDouble; }
// float16, bfloat16, float32, float64 and the 8- and 4-bit floats.
constexpr bool is_floating_point(ScalarType t) {
  return (t >= ScalarType::Half && t <= ScalarType::Double) || t == ScalarType::BFloat16 || is_float8(t) ||
         t == ScalarType::Float4_e2m1fn_x2;
}
// int8 to int64 and uint8 to uint64 (not the packed ones), and bool if asked for.
constexpr bool is_integral(ScalarType t, bool include_bool) {
  return t <= ScalarType::Long || (t >= ScalarType::UInt16 && t <= ScalarType::UInt64) || (include_bool && is_bool(t));
}
// Whether the type has negative numbers.
constexpr bool is_signed(ScalarType t) {
  return (t >= ScalarType::Char && t <= ScalarType::ComplexDouble) || t == ScalarType::QInt8 ||
         t == ScalarType::QInt32 || (t >= ScalarType::Int1 && t <= ScalarType::Int7) ||
         (is_floating_point(t) && t != ScalarType::Float8_e8m0fnu);
}

// Bytes of one element; 0 for Undefined.
constexpr std::size_t element_size(ScalarType t) {
  switch (t) {
    case ScalarType::Short:
    case ScalarType::UInt16:
    case ScalarType::Half:
    case ScalarType::BFloat16:
    case ScalarType::Bits16: return 2;
    case ScalarType::Int:
    case ScalarType::UInt32:
    case ScalarType::Float:
    case ScalarType::QInt32:
    case ScalarType::ComplexHalf: return 4;
    case ScalarType::Long:
    case ScalarType::UInt64:
    case ScalarType::Double:
    case ScalarType::ComplexFloat: return 8;
    case ScalarType::ComplexDouble: return 16;
    case ScalarType::Undefined: return 0;
    default: return 1;
  }
}

// The type of a complex type's parts; other types are their own.
constexpr ScalarType to_real(ScalarType t) {
  switch (t) {
    case ScalarType::ComplexHalf: return ScalarType::Half;
    case ScalarType::ComplexFloat: return ScalarType::Float;
    case ScalarType::ComplexDouble: return ScalarType::Double;
    default: return t;
  }
}
// The complex type that holds a floating type's numbers (bfloat16 gives complex64); complex types are their
// own. Undefined for all others.
constexpr ScalarType to_complex(ScalarType t) {
  switch (t) {
    case ScalarType::Half: return ScalarType::ComplexHalf;
    case ScalarType::BFloat16:
    case ScalarType::Float: return ScalarType::ComplexFloat;
    case ScalarType::Double: return ScalarType::ComplexDouble;
    default: return is_complex(t) ? t : ScalarType::Undefined;
  }
}
// What scalar maths of a type is computed in: float32 for the narrower floats, complex64 for complex32, else
// itself.
constexpr ScalarType opmath_type(ScalarType t) {
  if (t == ScalarType::Half || t == ScalarType::BFloat16 || is_float8(t)) return ScalarType::Float;
  return t == ScalarType::ComplexHalf ? ScalarType::ComplexFloat : t;
}
// What sums of a type are kept in: int64 for integers and bool (uint64 wraps as it would itself), else
// opmath_type().
constexpr ScalarType accumulate_type(ScalarType t) { return is_integral(t, true) ? ScalarType::Long : opmath_type(t); }
// Whether a result computed in `from` may be stored in an output of `to`: not complex in real, floating in
// integral, nor numbers in bool.
constexpr bool can_cast(ScalarType from, ScalarType to) {
  if (is_complex(from) && !is_complex(to)) return false;
  if (is_floating_point(from) && is_integral(to, false)) return false;
  return is_bool(from) || !is_bool(to);
}

}  // namespace keyway::inline v1
