// Numbers that a floating dtype sets. Complex dtypes have none; see those of their parts.
#pragma once

#include <keyway/core/dtype/visit_dtype.h>

#include <limits>

namespace keyway::inline v1::composite {

// The greatest finite number.
inline double greatest_of(ScalarType dtype) {
  return visit_floating(dtype, "the greatest number",
                        []<typename T>() { return static_cast<double>(std::numeric_limits<T>::max()); });
}

// The difference between 1 and the next number.
inline double epsilon_of(ScalarType dtype) {
  return visit_floating(dtype, "the precision",
                        []<typename T>() { return static_cast<double>(std::numeric_limits<T>::epsilon()); });
}

}  // namespace keyway::inline v1::composite
