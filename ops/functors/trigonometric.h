// Circular and hyperbolic functions, and their inverses.
#pragma once

#include <keyway/ops/functors/math.h>

namespace keyway::inline v1 {

template <typename T>
struct Sin {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::sin(widen(x))); }
};
template <typename T>
struct Cos {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::cos(widen(x))); }
};
template <typename T>
struct Tan {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::tan(widen(x))); }
};
template <typename T>
struct Asin {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::asin(widen(x))); }
};
template <typename T>
struct Acos {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::acos(widen(x))); }
};
template <typename T>
struct Atan {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::atan(widen(x))); }
};
template <typename T>
struct Sinh {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::sinh(widen(x))); }
};
template <typename T>
struct Cosh {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::cosh(widen(x))); }
};
template <typename T>
struct Tanh {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::tanh(widen(x))); }
};
template <typename T>
struct Asinh {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::asinh(widen(x))); }
};
template <typename T>
struct Acosh {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::acosh(widen(x))); }
};
template <typename T>
struct Atanh {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::atanh(widen(x))); }
};
// The angle of the point (x, y).
template <typename T>
struct Atan2 {
  KEYWAY_HD T operator()(T y, T x) const { return static_cast<T>(std::atan2(widen(y), widen(x))); }
};

}  // namespace keyway::inline v1
