// Division in its four forms, and powers. On integers a zero divisor is refused, and the least one by -1
// wraps.
#pragma once

#include <keyway/ops/functors/math.h>
#include <keyway/ops/functors/opmath.h>

#include <type_traits>

namespace keyway::inline v1 {

namespace detail {

struct QuotientText {
  static constexpr const char* kElementError =
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

// Small integers are divided as floats, which processors do in vectors. The quotient of integers of n bits
// misses the next one by more than a rounding to 2n bits can make up for, so cutting it off is exact.
template <IntegerElement T>
struct DividesAs {
#if defined(__CUDA_ARCH__)
  using type = T;
#else
  using type = std::conditional_t<(sizeof(T) < 4), float, std::conditional_t<std::same_as<T, std::int32_t>, double, T>>;
#endif
};

// C's quotient for all values; the hardware traps on 0 and on the least integer by -1.
template <IntegerElement T>
KEYWAY_HD constexpr T quotient(T a, T b) {
  using Wide = typename DividesAs<T>::type;
  using Cut = std::conditional_t<(sizeof(T) < 4), std::int32_t, T>;
  const bool minus_one = std::is_signed_v<T> && b == static_cast<T>(-1);
  const T safe = ((b == 0) | minus_one) ? T(1) : b;
  const T q = static_cast<T>(static_cast<Cut>(static_cast<Wide>(a) / static_cast<Wide>(safe)));
  return minus_one ? wrapping_neg(a) : q;
}
template <IntegerElement T>
KEYWAY_HD constexpr T remainder(T a, T b) {
  return wrapping_sub(a, wrapping_mul(quotient(a, b), b));
}

// Whether a remainder has not the sign of the divisor, so that floor and truncation differ.
template <typename T>
KEYWAY_HD constexpr bool signs_differ(T rest, T divisor) {
  return (rest != 0) & ((rest < 0) != (divisor < 0));
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
// rounding, which rounding to the nearest integer undoes. The remainder is C's: the other is infinite for infinite b.
template <std::floating_point T>
KEYWAY_HD inline T floor_quotient(T a, T b) {
  if (b == 0) return a / b;
  const T rest = std::fmod(a, b);
  const T towards_zero = (a - rest) / b;
  const T q = signs_differ(rest, b) ? towards_zero - 1 : towards_zero;
  if (q == 0) return std::copysign(T(0), a / b);
  const T down = std::floor(q);
  return q - down > T(0.5) ? down + 1 : down;
}

template <IntegerElement T, IntegerElement Exponent>
KEYWAY_HD constexpr T integer_power(T base, Exponent exponent) {
  if constexpr (std::signed_integral<T> && std::signed_integral<Exponent>) {
    // 1 / base^n: of integers only 1 and -1 have one.
    if (exponent < 0) return base == 1 ? T(1) : base == -1 ? (exponent % 2 != 0 ? T(-1) : T(1)) : T(0);
  }
  T result = 1;
  for (; exponent > 0; exponent = static_cast<Exponent>(exponent / 2)) {
    if (exponent % 2 != 0) result = wrapping_mul(result, base);
    base = wrapping_mul(base, base);
  }
  return result;
}

// Of complex numbers, whose power is an exponential, 0 to the power 0 is 1 as it is of real ones.
template <typename Math, typename X>
KEYWAY_HD X power(Math m, X base, X exponent) {
  if constexpr (kIsComplex<X>) {
    if (exponent == X(0)) return X(1);
  }
  return m.pow(base, exponent);
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
      const T q = detail::quotient(a, b), rest = wrapping_sub(a, wrapping_mul(q, b));
      return detail::signs_differ(rest, b) ? wrapping_sub(q, T(1)) : q;
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
  KEYWAY_HD T operator()(T base, T exponent) const { return with(StandardMath(), base, exponent); }
  template <typename Math>
  KEYWAY_HD T with(Math m, T base, T exponent) const {
    if constexpr (std::integral<T>) {
      return detail::integer_power(base, exponent);
    } else {
      return static_cast<T>(detail::power(m, opmath(base), opmath(exponent)));
    }
  }
};

namespace detail {
// Integers have powers of any integer, however narrow they are.
template <typename T>
using Exponent = std::conditional_t<std::integral<T>, std::int64_t, Opmath<T>>;

template <typename T>
struct PowAny {
  Exponent<T> exponent;

  KEYWAY_HD T operator()(T base) const { return with(StandardMath(), base); }
  template <typename Math>
  KEYWAY_HD T with(Math m, T base) const {
    if constexpr (std::integral<T>) {
      return integer_power(base, exponent);
    } else {
      return static_cast<T>(power(m, opmath(base), exponent));
    }
  }
};
// x^n by multiplication.
template <typename T, int n>
struct PowWhole {
  KEYWAY_HD constexpr T operator()(T base) const {
    if constexpr (std::integral<T>) {
      return integer_power(base, T(n));
    } else {
      const Opmath<T> x = opmath(base), one(1);
      const Opmath<T> square = x * x;
      return static_cast<T>(n == 3 ? square * x : n == 2 ? square : n == 1 ? x : n == -1 ? one / x : one / square);
    }
  }
};
// The square root, or its reciprocal: of -inf NaN, as in PyTorch, where std::pow has infinity.
template <typename T, bool reciprocal>
struct PowHalf {
  KEYWAY_HD T operator()(T base) const {
    const Opmath<T> root = std::sqrt(opmath(base));
    return static_cast<T>(reciprocal ? 1 / root : root);
  }
};
}  // namespace detail

// pow.Tensor_Scalar. Squares, cubes and their reciprocals are products, and roots are roots.
template <typename T>
struct PowScalar {
  detail::Exponent<T> exponent;

  template <typename Visitor>
  KEYWAY_HD void choose(Visitor&& visit) const {
    using Exponent = detail::Exponent<T>;
    if (exponent == Exponent(1)) return visit(detail::PowWhole<T, 1>());
    if (exponent == Exponent(2)) return visit(detail::PowWhole<T, 2>());
    if (exponent == Exponent(3)) return visit(detail::PowWhole<T, 3>());
    if constexpr (!std::integral<T>) {
      if (exponent == Exponent(-1)) return visit(detail::PowWhole<T, -1>());
      if (exponent == Exponent(-2)) return visit(detail::PowWhole<T, -2>());
    }
    if constexpr (!std::integral<T> && !kIsComplex<T>) {
      if (exponent == Exponent(0.5)) return visit(detail::PowHalf<T, false>());
      if (exponent == Exponent(-0.5)) return visit(detail::PowHalf<T, true>());
    }
    visit(detail::PowAny<T>{exponent});
  }
  KEYWAY_HD T operator()(T base) const {
    T result;
    choose([&](const auto& form) { result = form(base); });
    return result;
  }
};

// pow.Scalar: of one base.
template <typename T>
struct PowBase {
  Opmath<T> base;

  KEYWAY_HD T operator()(T exponent) const { return with(StandardMath(), exponent); }
  template <typename Math>
  KEYWAY_HD T with(Math m, T exponent) const {
    if constexpr (std::integral<T>) {
      return detail::integer_power(base, exponent);
    } else {
      return static_cast<T>(detail::power(m, base, opmath(exponent)));
    }
  }
};

// The greatest common divisor, by Euclid: of magnitudes, as which the least integer has none.
template <typename T>
struct Gcd {
  using Size = std::make_unsigned_t<T>;

  KEYWAY_HD constexpr T operator()(T a, T b) const {
    Size x = size(a), y = size(b);
    while (y != 0) {
      const Size rest = static_cast<Size>(x % y);
      x = y;
      y = rest;
    }
    return static_cast<T>(x);
  }

 private:
  KEYWAY_HD static constexpr Size size(T a) { return static_cast<Size>(a < 0 ? wrapping_neg(a) : a); }
};

}  // namespace keyway::inline v1
