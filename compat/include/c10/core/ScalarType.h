// Dtypes, and which C++ type each is.
#pragma once

#include <keyway/core/dtype/cpp_type.h>
#include <keyway/core/dtype/promote_types.h>
#include <keyway/core/dtype/scalar_type.h>

#include <keyway_compat/namespaces.h>
#include <type_traits>

namespace c10 {
template <typename T>
struct CppTypeToScalarType : std::integral_constant<ScalarType, keyway::cpp_type_to_scalar_type<T>> {};
constexpr bool isFloatingType(ScalarType t) { return keyway::is_floating_point(t); }
constexpr bool isComplexType(ScalarType t) { return keyway::is_complex(t); }
constexpr bool isIntegralType(ScalarType t, bool include_bool) { return keyway::is_integral(t, include_bool); }
inline const char* toString(ScalarType t) { return keyway::enum_name(t).data(); }
constexpr std::size_t elementSize(ScalarType t) { return keyway::element_size(t); }
}  // namespace c10
