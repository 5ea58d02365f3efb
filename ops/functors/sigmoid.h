// The logistic function, and the gradients of it and of tanh from their results.
#pragma once

#include <keyway/ops/functors/math.h>

namespace keyway::inline v1 {

KEYWAY_ELEMENTARY_FUNCTOR(Sigmoid, sigmoid)

template <typename T>
struct SigmoidBackward {
  KEYWAY_HD constexpr T operator()(T grad, T y) const {
    if constexpr (ComplexElement<T>) {
      return static_cast<T>(opmath(grad) * conj((Opmath<T>(1) - opmath(y)) * opmath(y)));
    } else {
      return static_cast<T>(opmath(grad) * (1 - opmath(y)) * opmath(y));
    }
  }
};
template <typename T>
struct TanhBackward {
  KEYWAY_HD constexpr T operator()(T grad, T y) const {
    const Opmath<T> slope = Opmath<T>(1) - opmath(y) * opmath(y);
    if constexpr (ComplexElement<T>) {
      return static_cast<T>(opmath(grad) * conj(slope));
    } else {
      return static_cast<T>(opmath(grad) * slope);
    }
  }
};

}  // namespace keyway::inline v1
