// Circular and hyperbolic functions, and their inverses.
#pragma once

#include <keyway/ops/functors/math.h>

namespace keyway::inline v1 {

template <typename T>
struct Sin {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::sin(opmath(x))); }
};
template <typename T>
struct Cos {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::cos(opmath(x))); }
};
template <typename T>
struct Tan {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::tan(opmath(x))); }
};
template <typename T>
struct Asin {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::asin(opmath(x))); }
};
template <typename T>
struct Acos {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::acos(opmath(x))); }
};
template <typename T>
struct Atan {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::atan(opmath(x))); }
};
template <typename T>
struct Sinh {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::sinh(opmath(x))); }
};
template <typename T>
struct Cosh {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::cosh(opmath(x))); }
};
template <typename T>
struct Tanh {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::tanh(opmath(x))); }
};
template <typename T>
struct Asinh {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::asinh(opmath(x))); }
};
template <typename T>
struct Acosh {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::acosh(opmath(x))); }
};
template <typename T>
struct Atanh {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::atanh(opmath(x))); }
};
// The angle of the point (x, y).
template <typename T>
struct Atan2 {
  KEYWAY_HD T operator()(T y, T x) const { return static_cast<T>(std::atan2(opmath(y), opmath(x))); }
};

}  // namespace keyway::inline v1
