// Exponentials, logarithms and roots.
#pragma once

#include <keyway/ops/functors/math.h>

namespace keyway::inline v1 {

KEYWAY_ELEMENTARY_FUNCTOR(Exp, exp)
KEYWAY_ELEMENTARY_FUNCTOR(Exp2, exp2)
KEYWAY_ELEMENTARY_FUNCTOR(Expm1, expm1)
KEYWAY_ELEMENTARY_FUNCTOR(Log, log)
KEYWAY_ELEMENTARY_FUNCTOR(Log2, log2)
KEYWAY_ELEMENTARY_FUNCTOR(Log10, log10)
KEYWAY_ELEMENTARY_FUNCTOR(Log1p, log1p)
KEYWAY_ELEMENTARY_FUNCTOR(Sqrt, sqrt)
KEYWAY_ELEMENTARY_FUNCTOR(Erf, erf)

template <typename T>
struct Rsqrt {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(Opmath<T>(1) / StandardMath::sqrt(opmath(x))); }
};

template <typename T>
struct Erfc {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(std::erfc(opmath(x))); }
};

// x log(y), and 0 where x is 0 unless y is NaN.
template <typename T>
struct Xlogy {
  KEYWAY_HD T operator()(T x, T y) const { return with(StandardMath(), x, y); }
  template <typename Math>
  KEYWAY_HD T with(Math m, T x, T y) const {
    const Opmath<T> a = opmath(x), b = opmath(y);
    const Opmath<T> product = a * m.log(b);
    return is_nan(b) ? y : a == Opmath<T>() ? T(0.0f) : static_cast<T>(product);
  }
};

// log(e^a + e^b), without overflow on the way: the greater, of complex numbers the one of greater real part, stays out
// of the exponent.
template <typename T>
struct LogAddExp {
  KEYWAY_HD T operator()(T a, T b) const { return with(StandardMath(), a, b); }
  template <typename Math>
  KEYWAY_HD T with(Math m, T a, T b) const {
    const Opmath<T> x = opmath(a), y = opmath(b);
    if constexpr (ComplexElement<T>) {
      // Equal infinities have no difference.
      if (x.real() == y.real() && std::isinf(x.real())) return x.real() < 0 ? a : T(m.log(m.exp(x) + m.exp(y)));
      const bool is_first = x.real() >= y.real();
      return static_cast<T>((is_first ? x : y) + m.log1p(m.exp(is_first ? y - x : x - y)));
    } else {
      const Opmath<T> apart = x == y ? Opmath<T>(0) : std::fabs(x - y);
      return static_cast<T>((x > y ? x : y) + m.log1p(m.exp(-apart)));
    }
  }
};

}  // namespace keyway::inline v1
