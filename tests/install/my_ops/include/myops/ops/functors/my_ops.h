// The scalar maths of the library's operators.
#pragma once

#include <keyway/ops/functors/arithmetic.h>
#include <keyway/ops/functors/exponential.h>
#include <keyway/ops/functors/opmath.h>

#include <cstdint>

namespace myops {

template <typename T>
struct Cube {
  constexpr T operator()(T x) const { return keyway::Mul<T>{}(keyway::Mul<T>{}(x, x), x); }
};

template <typename T>
struct Product {
  using Element = T;
  using Acc = keyway::Opmath<T>;

  constexpr Acc identity() const { return Acc(1); }
  constexpr Acc combine(Acc acc, T x, std::int64_t) const { return acc * keyway::opmath(x); }
  constexpr Acc merge(Acc a, Acc b) const { return a * b; }
  constexpr T project(Acc acc, std::int64_t) const { return static_cast<T>(acc); }
};

template <typename T>
struct Root {
  static constexpr const char* kElementError = "a negative number has no root";
  KEYWAY_HD bool accepts(T x) const { return !(keyway::opmath(x) < 0); }
  KEYWAY_HD T operator()(T x) const { return keyway::Sqrt<T>{}(x); }
};

}  // namespace myops
