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

template <typename T>
struct Reciprocal {
  KEYWAY_HD constexpr T operator()(T x) const { return static_cast<T>(Opmath<T>(1) / opmath(x)); }
};

// Of bool an integer, as in PyTorch.
template <typename T>
struct Square {
  KEYWAY_HD constexpr auto operator()(T x) const {
    if constexpr (std::same_as<T, bool>) {
      return std::int64_t{x};
    } else {
      return Mul<T>{}(x, x);
    }
  }
};

// sqrt(a^2 + b^2), without overflow on the way.
template <typename T>
struct Hypot {
  KEYWAY_HD T operator()(T a, T b) const { return static_cast<T>(std::hypot(opmath(a), opmath(b))); }
};

}  // namespace keyway::inline v1
