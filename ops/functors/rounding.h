// Rounding to integers; integers stay as they are.
#pragma once

#include <keyway/ops/functors/opmath.h>

#include <cmath>

namespace keyway::inline v1 {

#define KEYWAY_ROUNDING(Name, function)                  \
  template <typename T>                                  \
  struct Name {                                          \
    KEYWAY_HD T operator()(T x) const {                  \
      if constexpr (std::integral<T>) {                  \
        return x;                                        \
      } else {                                           \
        return static_cast<T>(std::function(opmath(x))); \
      }                                                  \
    }                                                    \
  };
KEYWAY_ROUNDING(Ceil, ceil)
KEYWAY_ROUNDING(Floor, floor)
KEYWAY_ROUNDING(Round, nearbyint)  // to the nearest; halves to the even one
KEYWAY_ROUNDING(Trunc, trunc)
#undef KEYWAY_ROUNDING

}  // namespace keyway::inline v1
