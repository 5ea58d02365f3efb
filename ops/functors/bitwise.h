// Bits of integers; for bool the logical operators.
#pragma once

#include <keyway/ops/functors/opmath.h>

namespace keyway::inline v1 {

template <typename T>
struct BitwiseAnd {
  KEYWAY_HD constexpr T operator()(T a, T b) const { return static_cast<T>(a & b); }
};
template <typename T>
struct BitwiseOr {
  KEYWAY_HD constexpr T operator()(T a, T b) const { return static_cast<T>(a | b); }
};
template <typename T>
struct BitwiseXor {
  KEYWAY_HD constexpr T operator()(T a, T b) const { return static_cast<T>(a ^ b); }
};
template <typename T>
struct BitwiseNot {
  KEYWAY_HD constexpr T operator()(T x) const {
    if constexpr (std::same_as<T, bool>) {
      return !x;
    } else {
      return static_cast<T>(~x);
    }
  }
};

// Shifted by a count outside [0, bits) all bits are gone: 0, or -1 where a negative number is shifted right.
template <IntegerElement T>
struct BitwiseLeftShift {
  KEYWAY_HD constexpr T operator()(T x, T count) const {
    using U = Wrapping<T>;
    constexpr U kBits = 8 * sizeof(T);
    const U n = static_cast<U>(count);
    return n < kBits ? static_cast<T>(static_cast<U>(x) << n) : T(0);
  }
};
template <IntegerElement T>
struct BitwiseRightShift {
  KEYWAY_HD constexpr T operator()(T x, T count) const {
    using U = Wrapping<T>;
    constexpr U kBits = 8 * sizeof(T);
    const U n = static_cast<U>(count);
    if constexpr (std::signed_integral<T>) {
      return static_cast<T>(x >> (n < kBits ? n : kBits - 1));
    } else {
      return n < kBits ? static_cast<T>(x >> n) : T(0);
    }
  }
};

}  // namespace keyway::inline v1
