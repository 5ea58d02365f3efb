// The C++ type in which scalar maths of a type is computed.
#pragma once

#include <c10/core/ScalarType.h>

namespace at {
template <typename T>
using opmath_type = keyway::opmath_t<T>;
constexpr ScalarType toOpMathType(ScalarType type) { return keyway::opmath_type(type); }
}  // namespace at
