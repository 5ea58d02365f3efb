// Rounding to integers; integers stay as they are.
#pragma once

#include <keyway/ops/functors/opmath.h>

#include <cmath>

namespace keyway::inline v1 {

template <typename T>
struct Ceil {
  KEYWAY_HD T operator()(T x) const {
    if constexpr (std::integral<T>) {
      return x;
    } else {
      return static_cast<T>(std::ceil(opmath(x)));
    }
  }
};
template <typename T>
struct Floor {
  KEYWAY_HD T operator()(T x) const {
    if constexpr (std::integral<T>) {
      return x;
    } else {
      return static_cast<T>(std::floor(opmath(x)));
    }
  }
};
// To the nearest; halves to the even one.
template <typename T>
struct Round {
  KEYWAY_HD T operator()(T x) const {
    if constexpr (std::integral<T>) {
      return x;
    } else {
      return static_cast<T>(std::nearbyint(opmath(x)));
    }
  }
};
template <typename T>
struct Trunc {
  KEYWAY_HD T operator()(T x) const {
    if constexpr (std::integral<T>) {
      return x;
    } else {
      return static_cast<T>(std::trunc(opmath(x)));
    }
  }
};
}  // namespace keyway::inline v1
