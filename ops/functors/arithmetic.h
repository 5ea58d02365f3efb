// Arithmetic: sums, products, signs, and what selects by order.
#pragma once

#include <keyway/ops/functors/argument.h>
#include <keyway/ops/functors/opmath.h>

#include <cmath>

namespace keyway::inline v1 {

// self + alpha * other; for bool the logical or.
template <typename T>
struct Add {
  Opmath<T> alpha;

  KEYWAY_HD constexpr T operator()(T a, T b) const {
    if constexpr (std::same_as<T, bool>) {
      return a | (alpha & b);
    } else if constexpr (IntegerElement<T>) {
      return wrapping_add(a, wrapping_mul(alpha, b));
    } else if constexpr (ComplexElement<T>) {
      // A product with 1 + 0j would make NaN of infinities.
      const Opmath<T> term = alpha == Opmath<T>(1) ? opmath(b) : alpha * opmath(b);
      return static_cast<T>(opmath(a) + term);
    } else {
      return static_cast<T>(opmath(a) + alpha * opmath(b));
    }
  }
};

// self - alpha * other.
template <typename T>
struct Sub {
  Opmath<T> alpha;

  KEYWAY_HD constexpr T operator()(T a, T b) const {
    if constexpr (IntegerElement<T>) {
      return wrapping_sub(a, wrapping_mul(alpha, b));
    } else if constexpr (ComplexElement<T>) {
      const Opmath<T> term = alpha == Opmath<T>(1) ? opmath(b) : alpha * opmath(b);
      return static_cast<T>(opmath(a) - term);
    } else {
      return static_cast<T>(opmath(a) - alpha * opmath(b));
    }
  }
};

// other - alpha * self.
template <typename T>
struct Rsub {
  Opmath<T> alpha;

  KEYWAY_HD constexpr T operator()(T a, T b) const { return Sub<T>{alpha}(b, a); }
};

// The product; for bool the logical and.
template <typename T>
struct Mul {
  KEYWAY_HD constexpr T operator()(T a, T b) const {
    if constexpr (std::same_as<T, bool>) {
      return a & b;
    } else if constexpr (IntegerElement<T>) {
      return wrapping_mul(a, b);
    } else {
      return static_cast<T>(opmath(a) * opmath(b));
    }
  }
};

template <typename T>
struct Neg {
  KEYWAY_HD constexpr T operator()(T x) const {
    if constexpr (IntegerElement<T>) {
      return wrapping_neg(x);
    } else {
      return static_cast<T>(-opmath(x));
    }
  }
};

// The magnitude; real also of complex numbers. Of the least integer itself.
template <typename T>
struct Abs {
  KEYWAY_HD Real<T> operator()(T x) const {
    if constexpr (ComplexElement<T>) {
      return static_cast<Real<T>>(abs(opmath(x)));
    } else if constexpr (std::unsigned_integral<T>) {
      return x;
    } else if constexpr (IntegerElement<T>) {
      return x < 0 ? wrapping_neg(x) : x;
    } else {
      return static_cast<T>(std::fabs(opmath(x)));
    }
  }
};

// -1, 0 or 1; 0 for NaN. Of bool the value itself.
template <typename T>
struct Sign {
  KEYWAY_HD constexpr T operator()(T x) const {
    if constexpr (std::same_as<T, bool>) {
      return x;
    } else {
      const Opmath<T> wide = opmath(x), zero{}, one(1);
      const Opmath<T> positive = wide > zero ? one : zero;
      return static_cast<T>(wide < zero ? zero - one : positive);
    }
  }
};

// x / |x|, and 0 for 0; Sign of real numbers.
template <typename T>
struct Sgn {
  KEYWAY_HD T operator()(T x) const {
    if constexpr (ComplexElement<T>) {
      const Opmath<T> wide = opmath(x);
      const Real<Opmath<T>> magnitude = abs(wide);
      return magnitude == 0 ? T() : static_cast<T>(wide / magnitude);
    } else {
      return Sign<T>{}(x);
    }
  }
};

template <typename T>
struct Reciprocal {
  KEYWAY_HD constexpr T operator()(T x) const { return static_cast<T>(Opmath<T>(1) / opmath(x)); }
};

template <typename T>
struct Square {
  KEYWAY_HD constexpr T operator()(T x) const { return Mul<T>{}(x, x); }
};

// The greater; NaN if one of them is NaN.
template <typename T>
struct Maximum {
  KEYWAY_HD constexpr T operator()(T a, T b) const {
    const Opmath<T> x = opmath(a), y = opmath(b);
    return (x > y) | is_nan(x) ? a : b;
  }
};

// The lesser; NaN if one of them is NaN.
template <typename T>
struct Minimum {
  KEYWAY_HD constexpr T operator()(T a, T b) const {
    const Opmath<T> x = opmath(a), y = opmath(b);
    return (x < y) | is_nan(x) ? a : b;
  }
};

// The greater; a NaN counts only if both are.
template <typename T>
struct Fmax {
  KEYWAY_HD constexpr T operator()(T a, T b) const {
    const Opmath<T> x = opmath(a), y = opmath(b);
    return (x >= y) | is_nan(y) ? a : b;
  }
};

// The lesser; a NaN counts only if both are.
template <typename T>
struct Fmin {
  KEYWAY_HD constexpr T operator()(T a, T b) const {
    const Opmath<T> x = opmath(a), y = opmath(b);
    return (x <= y) | is_nan(y) ? a : b;
  }
};

// self, self, tensor bounds: clamp.Tensor. `max` where min > max; NaN if any is NaN.
template <typename T>
struct ClampTensor {
  KEYWAY_HD constexpr T operator()(T x, T min, T max) const { return Minimum<T>{}(Maximum<T>{}(x, min), max); }
};

// Into [min, max], either of which may be absent; `max` where min > max; NaN if one is NaN.
template <typename T>
struct Clamp {
  constexpr Clamp(Optional<T> min, Optional<T> max)
      : min_(opmath(min.value_or(lowest_value<T>()))),
        max_(opmath(max.value_or(highest_value<T>()))),
        poison_(is_nan(min_)   ? min_
                : is_nan(max_) ? max_
                               : Opmath<T>()) {}

  KEYWAY_HD constexpr T operator()(T x) const {
    const Opmath<T> wide = opmath(x);
    const Opmath<T> raised = wide < min_ ? min_ : wide;
    const Opmath<T> clamped = raised > max_ ? max_ : raised;
    if constexpr (std::integral<T>) {
      return static_cast<T>(clamped);
    } else {
      return static_cast<T>(clamped - poison_);
    }
  }

 private:
  Opmath<T> min_;
  Opmath<T> max_;
  Opmath<T> poison_;  // a bound that is NaN, else 0, which takes nothing from any number
};

// sqrt(a^2 + b^2), without overflow on the way.
template <typename T>
struct Hypot {
  KEYWAY_HD T operator()(T a, T b) const { return static_cast<T>(std::hypot(opmath(a), opmath(b))); }
};

// The magnitude of a with the sign of b.
template <typename T>
struct Copysign {
  KEYWAY_HD T operator()(T a, T b) const { return static_cast<T>(std::copysign(opmath(a), opmath(b))); }
};

// 0, 1, or `value` at zero; NaN at NaN.
template <typename T>
struct Heaviside {
  KEYWAY_HD constexpr T operator()(T x, T value) const {
    const Opmath<T> wide = opmath(x), zero{};
    if constexpr (RealFloat<T>) {
      if (is_nan(wide)) return x;
    }
    return wide == zero ? value : static_cast<T>(wide > zero);
  }
};

}  // namespace keyway::inline v1
