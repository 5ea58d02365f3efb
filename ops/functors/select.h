// Selection, interpolation, and products added to a tensor.
#pragma once

#include <keyway/ops/functors/argument.h>
#include <keyway/ops/functors/opmath.h>

namespace keyway::inline v1 {

namespace detail {
template <typename T>
KEYWAY_HD constexpr T choose(bool condition, T a, T b) {
  if constexpr (std::same_as<T, bool>) {
    return (condition & a) | (!condition & b);
  } else {
    return condition ? a : b;
  }
}
}  // namespace detail

template <typename T>
struct Where {
  static constexpr bool kMovesElements = true;

  KEYWAY_HD constexpr T operator()(bool condition, T a, T b) const { return detail::choose(condition, a, b); }
};

// masked_fill.Scalar.
template <typename T>
struct MaskedFill {
  static constexpr bool kMovesElements = true;

  Rounded<T> value;

  KEYWAY_HD constexpr T operator()(T x, bool mask) const { return detail::choose(mask, value.value, x); }
};

template <typename T>
struct NanToNum {
  Opmath<T> nan;
  Opmath<T> posinf;
  Opmath<T> neginf;

  KEYWAY_HD constexpr T operator()(T x) const {
    constexpr Opmath<T> kInfinity = std::numeric_limits<Opmath<T>>::infinity();
    const Opmath<T> wide = opmath(x);
    const Opmath<T> bounded = wide == kInfinity ? posinf : wide == -kInfinity ? neginf : wide;
    return static_cast<T>(wide != wide ? nan : bounded);
  }
};

namespace detail {
// From the nearer end, so that a weight of 1 gives `end` exactly.
template <typename T>
KEYWAY_HD constexpr T interpolate(T start, T end, T weight) {
  const T from_start = start + weight * (end - start), from_end = end - (end - start) * (T(1) - weight);
  if constexpr (kIsComplex<T>) {
    return norm(weight) < Real<T>(0.25) ? from_start : from_end;
  } else {
    return (weight < T(0.5)) & (weight > T(-0.5)) ? from_start : from_end;
  }
}
}  // namespace detail

// lerp.Scalar: start + weight (end - start).
template <typename T>
struct Lerp {
  Opmath<T> weight;

  KEYWAY_HD T operator()(T start, T end) const {
    return static_cast<T>(detail::interpolate(opmath(start), opmath(end), weight));
  }
};

// lerp.Tensor.
template <typename T>
struct LerpTensor {
  KEYWAY_HD T operator()(T start, T end, T weight) const {
    return static_cast<T>(detail::interpolate(opmath(start), opmath(end), opmath(weight)));
  }
};

// self + value * tensor1 * tensor2.
template <typename T>
struct Addcmul {
  Opmath<T> value;

  KEYWAY_HD constexpr T operator()(T x, T a, T b) const {
    if constexpr (IntegerElement<T>) {
      return wrapping_add(x, wrapping_mul(wrapping_mul(value, a), b));
    } else {
      return static_cast<T>(opmath(x) + value * opmath(a) * opmath(b));
    }
  }
};

// self + value * tensor1 / tensor2; of floating and complex numbers.
template <typename T>
struct Addcdiv {
  Opmath<T> value;

  KEYWAY_HD constexpr T operator()(T x, T a, T b) const {
    return static_cast<T>(opmath(x) + value * opmath(a) / opmath(b));
  }
};

}  // namespace keyway::inline v1
