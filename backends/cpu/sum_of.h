// SumOf: how kernels add an element to another one in memory.
#pragma once

#include <keyway/ops/functors/opmath.h>

#include <concepts>

namespace keyway::inline v1 {

// Of bools, whether one is true.
template <typename T>
struct SumOf {
  T operator()(T a, T b) const {
    if constexpr (std::same_as<T, bool>) {
      return a || b;
    } else {
      return static_cast<T>(plus(opmath(a), opmath(b)));
    }
  }
};

}  // namespace keyway::inline v1
