// promote_types: the dtype in which two dtypes meet, by PyTorch 2.x's rules; of uint16, uint32 and uint64 with other
// integers, which it refuses, by those of the array API standard and of NumPy.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/core/dtype/scalar_type.h>

#include <array>
#include <cstddef>

namespace keyway::inline v1 {

namespace detail {

// The rules themselves. bool < integral < floating < complex; within a category the smallest type that holds
// both; uint64 and a signed type, which none holds, meet in float64.
constexpr ScalarType promote_by_rule(ScalarType a, ScalarType b) {
  const auto ordinary = [](ScalarType t) {
    return is_integral(t, true) || is_complex(t) ||
           (is_floating_point(t) && !is_float8(t) && t != ScalarType::Float4_e2m1fn_x2);
  };
  const auto is_unsigned = [](ScalarType t) {
    return t == ScalarType::Byte || (t >= ScalarType::UInt16 && t <= ScalarType::UInt64);
  };

  if (a == b) return a;
  if (!ordinary(a) || !ordinary(b)) return ScalarType::Undefined;
  if (is_complex(a) || is_complex(b)) return to_complex(promote_by_rule(to_real(a), to_real(b)));
  if (is_floating_point(a) != is_floating_point(b)) return is_floating_point(a) ? a : b;
  if (is_floating_point(a)) {
    if (element_size(a) == element_size(b)) return ScalarType::Float;  // float16 and bfloat16
    return element_size(a) > element_size(b) ? a : b;
  }
  if (is_bool(a) || is_bool(b)) return is_bool(a) ? b : a;
  if (is_unsigned(a) == is_unsigned(b)) return element_size(a) > element_size(b) ? a : b;
  const ScalarType without_sign = is_unsigned(a) ? a : b, with_sign = is_unsigned(a) ? b : a;
  if (element_size(with_sign) > element_size(without_sign)) return with_sign;
  switch (element_size(without_sign)) {
    case 1: return ScalarType::Short;
    case 2: return ScalarType::Int;
    case 4: return ScalarType::Long;
    default: return ScalarType::Double;
  }
}

inline constexpr std::size_t kPromoteRows = kNumScalarTypes + 1;
inline constexpr auto kPromoteTable = [] {
  std::array<std::array<ScalarType, kPromoteRows>, kPromoteRows> table{};
  for (std::size_t i = 0; i < kPromoteRows; ++i) {
    for (std::size_t j = 0; j < kPromoteRows; ++j) {
      table[i][j] = promote_by_rule(static_cast<ScalarType>(i), static_cast<ScalarType>(j));
    }
  }
  return table;
}();

}  // namespace detail

// Symmetric, and promote_types(t, t) == t. Undefined where the types do not meet: of unlike types, 8-bit
// floats, quantised, packed and bit types promote with nothing. One load. Requires: both are enumerators.
constexpr ScalarType promote_types(ScalarType a, ScalarType b) {
  return detail::kPromoteTable[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
}

// The same; throws Error(Type) that names both where the result would be Undefined.
KEYWAY_API ScalarType checked_promote_types(ScalarType a, ScalarType b);

}  // namespace keyway::inline v1
