// Which C++ type an element of a ScalarType is, and back. One list serves both ways.
#pragma once

#include <keyway/core/base/bfloat16.h>
#include <keyway/core/base/complex.h>
#include <keyway/core/base/float8.h>
#include <keyway/core/base/half.h>
#include <keyway/core/base/opaque_types.h>
#include <keyway/core/dtype/scalar_type.h>

#include <cstdint>
#include <type_traits>

namespace keyway::inline v1 {

namespace detail {

template <ScalarType t, typename T>
struct CppTypeEntry {};

struct CppTypes : CppTypeEntry<ScalarType::Byte, std::uint8_t>,
                  CppTypeEntry<ScalarType::Char, std::int8_t>,
                  CppTypeEntry<ScalarType::Short, std::int16_t>,
                  CppTypeEntry<ScalarType::Int, std::int32_t>,
                  CppTypeEntry<ScalarType::Long, std::int64_t>,
                  CppTypeEntry<ScalarType::Half, Half>,
                  CppTypeEntry<ScalarType::Float, float>,
                  CppTypeEntry<ScalarType::Double, double>,
                  CppTypeEntry<ScalarType::ComplexHalf, complex<Half>>,
                  CppTypeEntry<ScalarType::ComplexFloat, complex<float>>,
                  CppTypeEntry<ScalarType::ComplexDouble, complex<double>>,
                  CppTypeEntry<ScalarType::Bool, bool>,
                  CppTypeEntry<ScalarType::QInt8, qint8>,
                  CppTypeEntry<ScalarType::QUInt8, quint8>,
                  CppTypeEntry<ScalarType::QInt32, qint32>,
                  CppTypeEntry<ScalarType::BFloat16, BFloat16>,
                  CppTypeEntry<ScalarType::QUInt4x2, quint4x2>,
                  CppTypeEntry<ScalarType::QUInt2x4, quint2x4>,
                  CppTypeEntry<ScalarType::Bits1x8, bits1x8>,
                  CppTypeEntry<ScalarType::Bits2x4, bits2x4>,
                  CppTypeEntry<ScalarType::Bits4x2, bits4x2>,
                  CppTypeEntry<ScalarType::Bits8, bits8>,
                  CppTypeEntry<ScalarType::Bits16, bits16>,
                  CppTypeEntry<ScalarType::Float8_e5m2, Float8_e5m2>,
                  CppTypeEntry<ScalarType::Float8_e4m3fn, Float8_e4m3fn>,
                  CppTypeEntry<ScalarType::Float8_e5m2fnuz, Float8_e5m2fnuz>,
                  CppTypeEntry<ScalarType::Float8_e4m3fnuz, Float8_e4m3fnuz>,
                  CppTypeEntry<ScalarType::UInt16, std::uint16_t>,
                  CppTypeEntry<ScalarType::UInt32, std::uint32_t>,
                  CppTypeEntry<ScalarType::UInt64, std::uint64_t>,
                  CppTypeEntry<ScalarType::Float8_e8m0fnu, Float8_e8m0fnu> {};

template <ScalarType t, typename T>
std::type_identity<T> cpp_type_of(const CppTypeEntry<t, T>&);
template <typename T, ScalarType t>
std::integral_constant<ScalarType, t> scalar_type_of(const CppTypeEntry<t, T>&);

}  // namespace detail

// A C++ type that tensors can hold.
template <typename T>
concept ElementType = requires(const detail::CppTypes& types) {
  detail::scalar_type_of<T>(types);
};

template <ElementType T>
inline constexpr ScalarType cpp_type_to_scalar_type = decltype(detail::scalar_type_of<T>(detail::CppTypes{}))::value;

// ::type is the C++ type; there is no such member for the packed types and Undefined.
template <ScalarType t>
struct ScalarTypeToCPPType {};
template <ScalarType t>
requires requires(const detail::CppTypes& types) { detail::cpp_type_of<t>(types); }
struct ScalarTypeToCPPType<t> : decltype(detail::cpp_type_of<t>(detail::CppTypes{})) {};

template <ScalarType t>
using cpp_type_t = typename ScalarTypeToCPPType<t>::type;

// The C++ type that scalar maths of T is computed in, as opmath_type() says.
template <ElementType T>
using opmath_t = cpp_type_t<opmath_type(cpp_type_to_scalar_type<T>)>;

}  // namespace keyway::inline v1
