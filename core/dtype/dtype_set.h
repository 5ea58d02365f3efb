// DtypeSet: a set of ScalarTypes in one word, usable as a template argument; and the sets that kernels name.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/core/dtype/scalar_type.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace keyway::inline v1 {

// Undefined is in no set. The mask is public only because template arguments need it; bit i is ScalarType i.
struct DtypeSet {
  std::uint64_t mask = 0;

  constexpr DtypeSet() = default;
  constexpr DtypeSet(ScalarType t) : mask(bit(t)) {}  // NOLINT
  // nvcc writes sets that are template arguments so.
  constexpr explicit DtypeSet(std::uint64_t bits) : mask(bits) {}
  constexpr DtypeSet(std::initializer_list<ScalarType> types) {
    for (const ScalarType t : types) mask |= bit(t);
  }

  constexpr bool contains(ScalarType t) const { return (mask & bit(t)) != 0; }
  constexpr bool contains(DtypeSet other) const { return (other.mask & ~mask) == 0; }
  constexpr bool empty() const { return mask == 0; }
  constexpr std::size_t size() const { return static_cast<std::size_t>(std::popcount(mask)); }
  // Requires: !empty(). The one with the lowest number.
  constexpr ScalarType first() const { return static_cast<ScalarType>(std::countr_zero(mask)); }

  friend constexpr DtypeSet operator|(DtypeSet a, DtypeSet b) { return DtypeSet(a.mask | b.mask); }
  friend constexpr DtypeSet operator&(DtypeSet a, DtypeSet b) { return DtypeSet(a.mask & b.mask); }
  friend constexpr DtypeSet operator-(DtypeSet a, DtypeSet b) { return DtypeSet(a.mask & ~b.mask); }
  friend constexpr bool operator==(DtypeSet, DtypeSet) = default;

 private:
  static constexpr std::uint64_t bit(ScalarType t) {
    const auto i = static_cast<unsigned>(t);
    return i < kNumScalarTypes ? std::uint64_t{1} << i : 0;
  }
};

// float16, bfloat16, float32, float64.
inline constexpr DtypeSet kFloatingTypes{kHalf, kBFloat16, kFloat, kDouble};
inline constexpr DtypeSet kComplexTypes{kComplexHalf, kComplexFloat, kComplexDouble};
// int8 to int64.
inline constexpr DtypeSet kSignedIntegralTypes{kChar, kShort, kInt, kLong};
// int8 to int64 and uint8 to uint64; not bool.
inline constexpr DtypeSet kIntegralTypes = kSignedIntegralTypes | DtypeSet{kByte, kUInt16, kUInt32, kUInt64};
// int32 and int64: what indices may be.
inline constexpr DtypeSet kIndexTypes{kInt, kLong};
// Integral and floating types; not bool.
inline constexpr DtypeSet kRealTypes = kIntegralTypes | kFloatingTypes;
inline constexpr DtypeSet kFloatingAndComplexTypes = kFloatingTypes | kComplexTypes;
// Real and complex types; not bool.
inline constexpr DtypeSet kNumberTypes = kRealTypes | kComplexTypes;
// All that have arithmetic, and bool.
inline constexpr DtypeSet kAnyTypes = kNumberTypes | kBool;
inline constexpr DtypeSet kFloat8Types{kFloat8_e5m2, kFloat8_e4m3fn, kFloat8_e5m2fnuz, kFloat8_e4m3fnuz,
                                       kFloat8_e8m0fnu};
// What converts to each other.
inline constexpr DtypeSet kCastTypes = kAnyTypes | kFloat8Types;
inline constexpr DtypeSet kQuantizedTypes{kQInt8, kQUInt8, kQInt32, ScalarType::QUInt4x2, ScalarType::QUInt2x4};
inline constexpr DtypeSet kBitsTypes{ScalarType::Bits1x8, ScalarType::Bits2x4, ScalarType::Bits4x2, ScalarType::Bits8,
                                     ScalarType::Bits16};
// All that have a C++ type.
inline constexpr DtypeSet kCppTypes = kAnyTypes | kFloat8Types | kQuantizedTypes | kBitsTypes;

// "float16, float32, float64 or bfloat16", by number.
KEYWAY_API std::string to_string(DtypeSet set);

}  // namespace keyway::inline v1
