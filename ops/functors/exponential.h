// Exponentials, logarithms and roots.
#pragma once

#include <keyway/ops/functors/math.h>

namespace keyway::inline v1 {

template <typename T>
struct Exp {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::exp(opmath(x))); }
};
template <typename T>
struct Exp2 {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::exp2(opmath(x))); }
};
template <typename T>
struct Expm1 {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::expm1(opmath(x))); }
};
template <typename T>
struct Log {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::log(opmath(x))); }
};
template <typename T>
struct Log2 {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::log2(opmath(x))); }
};
template <typename T>
struct Log10 {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::log10(opmath(x))); }
};
template <typename T>
struct Log1p {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::log1p(opmath(x))); }
};
template <typename T>
struct Sqrt {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(math::sqrt(opmath(x))); }
};
template <typename T>
struct Rsqrt {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(Opmath<T>(1) / math::sqrt(opmath(x))); }
};

template <typename T>
struct Erf {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(std::erf(opmath(x))); }
};
template <typename T>
struct Erfc {
  KEYWAY_HD T operator()(T x) const { return static_cast<T>(std::erfc(opmath(x))); }
};

// x log(y), and 0 where x is 0 unless y is NaN.
template <typename T>
struct Xlogy {
  KEYWAY_HD T operator()(T x, T y) const {
    const Opmath<T> a = opmath(x), b = opmath(y);
    if (is_nan(b)) return y;
    return a == Opmath<T>() ? T(0.0f) : static_cast<T>(a * math::log(b));
  }
};
// log(e^a + e^b), without overflow on the way.
template <typename T>
struct LogAddExp {
  KEYWAY_HD T operator()(T a, T b) const {
    const Opmath<T> x = opmath(a), y = opmath(b);
    if (x == y && IsInfinite(x)) return a;
    return static_cast<T>(std::fmax(x, y) + std::log1p(std::exp(-std::fabs(x - y))));
  }

 private:
  KEYWAY_HD static constexpr bool IsInfinite(Opmath<T> x) { return x - x != 0 && x == x; }
};

}  // namespace keyway::inline v1
