// Functors of overloads whose second operand is a number: add.Scalar, ...
//
// The number is kept in the type that a floating operation is computed in, so that x * 0.1 of a float16 tensor uses 0.1
// as float32 has it.
#pragma once

#include <keyway/ops/functors/arithmetic.h>
#include <keyway/ops/functors/opmath.h>

#include <type_traits>

namespace keyway::inline v1 {

namespace detail {
// Whether T is computed in itself, so that the functor of two elements serves.
template <typename T>
inline constexpr bool kOwnOpmath = std::is_same_v<Opmath<T>, T>;
}  // namespace detail

template <typename T>
struct AddScalar {
  Opmath<T> other;
  Opmath<T> alpha;
  KEYWAY_HD constexpr T operator()(T a) const {
    if constexpr (detail::kOwnOpmath<T>) {
      return Add<T>{alpha}(a, other);
    } else {
      return static_cast<T>(opmath(a) + alpha * other);
    }
  }
};
template <typename T>
struct SubScalar {
  Opmath<T> other;
  Opmath<T> alpha;
  KEYWAY_HD constexpr T operator()(T a) const {
    if constexpr (detail::kOwnOpmath<T>) {
      return Sub<T>{alpha}(a, other);
    } else {
      return static_cast<T>(opmath(a) - alpha * other);
    }
  }
};
template <typename T>
struct MulScalar {
  Opmath<T> other;
  KEYWAY_HD constexpr T operator()(T a) const {
    if constexpr (detail::kOwnOpmath<T>) {
      return Mul<T>{}(a, other);
    } else {
      return static_cast<T>(opmath(a) * other);
    }
  }
};
template <typename T>
struct DivScalar {
  Opmath<T> other;
  KEYWAY_HD constexpr T operator()(T a) const { return static_cast<T>(opmath(a) / other); }
};

}  // namespace keyway::inline v1
