// Comparisons and logic: what gives bool.
#pragma once

#include <keyway/ops/functors/argument.h>
#include <keyway/ops/functors/opmath.h>

namespace keyway::inline v1 {

// A comparison F with a number, which is rounded as elements are: 0.1 of float16 equals 0.1.
template <template <typename> class F, typename T>
struct CompareScalar {
  Rounded<T> other;

  KEYWAY_HD constexpr bool operator()(T a) const { return F<Opmath<T>>{}(opmath(a), opmath(other.value)); }
};

// Two numbers, and one with a number that is the same for all.
#define KEYWAY_COMPARISON(Name, ...)                                            \
  template <typename T>                                                         \
  struct Name {                                                                 \
    KEYWAY_HD constexpr bool operator()(T a, T b) const { return __VA_ARGS__; } \
  };                                                                            \
  template <typename T>                                                         \
  using Name##Scalar = CompareScalar<Name, T>;
KEYWAY_COMPARISON(Eq, opmath(a) == opmath(b))
KEYWAY_COMPARISON(Ne, !(opmath(a) == opmath(b)))
KEYWAY_COMPARISON(Lt, opmath(a) < opmath(b))
KEYWAY_COMPARISON(Le, opmath(a) <= opmath(b))
KEYWAY_COMPARISON(Gt, opmath(a) > opmath(b))
KEYWAY_COMPARISON(Ge, opmath(a) >= opmath(b))
#undef KEYWAY_COMPARISON

// A number is true if it is not zero; NaN is.
template <typename T>
struct LogicalAnd {
  KEYWAY_HD constexpr bool operator()(T a, T b) const { return is_true(a) & is_true(b); }
};
template <typename T>
struct LogicalOr {
  KEYWAY_HD constexpr bool operator()(T a, T b) const { return is_true(a) | is_true(b); }
};
template <typename T>
struct LogicalXor {
  KEYWAY_HD constexpr bool operator()(T a, T b) const { return is_true(a) != is_true(b); }
};
template <typename T>
struct LogicalNot {
  KEYWAY_HD constexpr bool operator()(T x) const { return !is_true(x); }
};

// Of complex numbers: whether a part is.
template <typename T>
struct IsNan {
  KEYWAY_HD constexpr bool operator()(T x) const { return is_nan(opmath(x)); }
};
template <typename T>
struct IsInf {
  KEYWAY_HD constexpr bool operator()(T x) const {
    if constexpr (ComplexElement<T>) {
      return IsInf<Real<T>>{}(x.real()) | IsInf<Real<T>>{}(x.imag());
    } else if constexpr (RealFloat<T>) {
      const Opmath<T> wide = opmath(x);
      constexpr Opmath<T> kInf = std::numeric_limits<Opmath<T>>::infinity();
      return (wide == kInf) | (wide == -kInf);
    } else {
      return false;
    }
  }
};

}  // namespace keyway::inline v1
