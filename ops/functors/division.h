// Division in its four forms, and powers. On integers a zero divisor is refused, and the least one by -1
// wraps.
#pragma once

#include <keyway/ops/functors/math.h>
#include <keyway/ops/functors/opmath.h>

namespace keyway::inline v1 {

namespace detail {

struct QuotientText {
  static constexpr const char* kRefusal =
      "integer division by zero: a divisor is 0. Mask it out, or divide in a floating-point dtype.";
};
struct NothingToRefuse {};

// What functors over integers inherit: no zero among the divisors.
template <typename T>
struct IntegerDivision : std::conditional_t<IntegerElement<T>, QuotientText, NothingToRefuse> {
  KEYWAY_HD constexpr bool accepts(T, T divisor) const {
    if constexpr (IntegerElement<T>) {
      return divisor != 0;
    } else {
      return true;
    }
  }
};

// C's quotient and remainder for all values: the hardware traps on 0 and on the least integer by -1.
template <IntegerElement T>
KEYWAY_HD constexpr T quotient(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::signed_integral<T>) {
    if (b == -1) return wrapping_neg(a);
  }
  return static_cast<T>(a / b);
}
template <IntegerElement T>
KEYWAY_HD constexpr T remainder(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::signed_integral<T>) {
    if (b == -1) return 0;
  }
  return static_cast<T>(a % b);
}

// Whether a remainder has not the sign of the divisor, so that floor and truncation differ.
template <typename T>
KEYWAY_HD constexpr bool signs_differ(T rest, T divisor) {
  return rest != 0 && (rest < 0) != (divisor < 0);
}

// The remainder with the divisor's sign.
template <typename T>
KEYWAY_HD inline T modulo(T a, T b) {
  T rest;
  if constexpr (std::integral<T>) {
    rest = remainder(a, b);
    return signs_differ(rest, b) ? wrapping_add(rest, b) : rest;
  } else {
    rest = std::fmod(a, b);
    return signs_differ(rest, b) ? rest + b : rest;
  }
}

// floor(a / b) of the exact quotient: the remainder is exact, so a less it is a multiple of b but for one
// rounding, which rounding to the nearest integer undoes.
template <std::floating_point T>
KEYWAY_HD inline T floor_quotient(T a, T b) {
  if (b == 0) return a / b;
  const T rest = modulo(a, b);
  const T q = (a - rest) / b;
  if (q == 0) return std::copysign(T(0), a / b);
  const T down = std::floor(q);
  return q - down > T(0.5) ? down + 1 : down;
}

template <IntegerElement T>
KEYWAY_HD constexpr T integer_power(T base, T exponent) {
  if constexpr (std::signed_integral<T>) {
    // 1 / base^n: of integers only 1 and -1 have one.
    if (exponent < 0) return base == 1 ? T(1) : base == -1 ? (exponent % 2 != 0 ? T(-1) : T(1)) : T(0);
  }
  T result = 1;
  for (; exponent > 0; exponent = static_cast<T>(exponent / 2)) {
    if (exponent % 2 != 0) result = wrapping_mul(result, base);
    base = wrapping_mul(base, base);
  }
  return result;
}

}  // namespace detail

// True division; of floating and complex numbers.
template <typename T>
struct Div {
  KEYWAY_HD constexpr T operator()(T a, T b) const { return static_cast<T>(opmath(a) / opmath(b)); }
};

// The quotient rounded down.
template <typename T>
struct DivFloor : detail::IntegerDivision<T> {
  KEYWAY_HD T operator()(T a, T b) const {
    if constexpr (std::integral<T>) {
      const T q = detail::quotient(a, b);
      return detail::signs_differ(detail::remainder(a, b), b) ? wrapping_sub(q, T(1)) : q;
    } else {
      return static_cast<T>(detail::floor_quotient(opmath(a), opmath(b)));
    }
  }
};

// The quotient rounded towards zero.
template <typename T>
struct DivTrunc : detail::IntegerDivision<T> {
  KEYWAY_HD T operator()(T a, T b) const {
    if constexpr (std::integral<T>) {
      return detail::quotient(a, b);
    } else {
      return static_cast<T>(std::trunc(opmath(a) / opmath(b)));
    }
  }
};

// The remainder with the sign of the divisor, as in Python.
template <typename T>
struct Remainder : detail::IntegerDivision<T> {
  KEYWAY_HD T operator()(T a, T b) const { return static_cast<T>(detail::modulo(opmath(a), opmath(b))); }
};

// The remainder with the sign of the dividend, as in C.
template <typename T>
struct Fmod : detail::IntegerDivision<T> {
  KEYWAY_HD T operator()(T a, T b) const {
    if constexpr (std::integral<T>) {
      return detail::remainder(a, b);
    } else {
      return static_cast<T>(std::fmod(opmath(a), opmath(b)));
    }
  }
};

// base ^ exponent. Integers wrap around; with a negative exponent they give 0, but for the bases 1 and -1.
template <typename T>
struct Pow {
  KEYWAY_HD T operator()(T base, T exponent) const {
    if constexpr (std::integral<T>) {
      return detail::integer_power(base, exponent);
    } else {
      return static_cast<T>(math::pow(opmath(base), opmath(exponent)));
    }
  }
};

// pow.Tensor_Scalar. The usual exponents are products and roots.
template <typename T>
struct PowScalar {
  Opmath<T> exponent;

  KEYWAY_HD T operator()(T base) const {
    const Opmath<T> x = opmath(base);
    if constexpr (std::integral<T>) {
      return detail::integer_power(base, exponent);
    } else if (exponent == Opmath<T>(2)) {
      return static_cast<T>(x * x);
    } else if (exponent == Opmath<T>(3)) {
      return static_cast<T>(x * x * x);
    } else if (exponent == Opmath<T>(-1)) {
      return static_cast<T>(Opmath<T>(1) / x);
    } else if (exponent == Opmath<T>(-2)) {
      return static_cast<T>(Opmath<T>(1) / (x * x));
    } else {
      return static_cast<T>(math::pow(x, exponent));
    }
  }
};

}  // namespace keyway::inline v1
