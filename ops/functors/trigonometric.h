// Circular and hyperbolic functions, and their inverses.
#pragma once

#include <keyway/ops/functors/math.h>

namespace keyway::inline v1 {

namespace detail {
KEYWAY_ELEMENTARY_FUNCTOR(SinOf, sin)
KEYWAY_ELEMENTARY_FUNCTOR(CosOf, cos)
KEYWAY_ELEMENTARY_FUNCTOR(TanOf, tan)
}  // namespace detail

// Functions of angles say so: large ones may need another way.
template <typename T>
struct Sin : detail::SinOf<T> {
  static constexpr bool kTakesAngles = true;
};
template <typename T>
struct Cos : detail::CosOf<T> {
  static constexpr bool kTakesAngles = true;
};
template <typename T>
struct Tan : detail::TanOf<T> {
  static constexpr bool kTakesAngles = true;
};
KEYWAY_ELEMENTARY_FUNCTOR(Asin, asin)
KEYWAY_ELEMENTARY_FUNCTOR(Acos, acos)
KEYWAY_ELEMENTARY_FUNCTOR(Atan, atan)
KEYWAY_ELEMENTARY_FUNCTOR(Sinh, sinh)
KEYWAY_ELEMENTARY_FUNCTOR(Cosh, cosh)
KEYWAY_ELEMENTARY_FUNCTOR(Tanh, tanh)
KEYWAY_ELEMENTARY_FUNCTOR(Asinh, asinh)
KEYWAY_ELEMENTARY_FUNCTOR(Acosh, acosh)
KEYWAY_ELEMENTARY_FUNCTOR(Atanh, atanh)

// The angle of the point (x, y).
template <typename T>
struct Atan2 {
  KEYWAY_HD T operator()(T y, T x) const { return with(StandardMath(), y, x); }
  template <typename Math>
  KEYWAY_HD T with(Math m, T y, T x) const {
    return static_cast<T>(m.atan2(opmath(y), opmath(x)));
  }
};

}  // namespace keyway::inline v1
