// Opmath: what functors compute in, and how they load, store and wrap around.
#pragma once

#include <keyway/core/base/bfloat16.h>
#include <keyway/core/base/complex.h>
#include <keyway/core/base/half.h>
#include <keyway/core/base/macros.h>

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace keyway::inline v1 {

namespace detail {
template <typename T>
struct OpmathOf {
  using type = T;
};
template <NarrowFloatType T>
struct OpmathOf<T> {
  using type = float;
};
template <>
struct OpmathOf<complex<Half>> {
  using type = complex<float>;
};

template <typename T>
struct RealOf {
  using type = T;
};
template <typename T>
struct RealOf<complex<T>> {
  using type = T;
};
}  // namespace detail

// float for Half and BFloat16, complex<float> for complex<Half>, else T: every step is computed in it, and
// the result rounded once.
template <typename T>
using Opmath = typename detail::OpmathOf<T>::type;
// The type of a complex number's parts and magnitude; T itself if real.
template <typename T>
using Real = typename detail::RealOf<T>::type;

template <typename T>
concept IntegerElement = std::integral<T> && !std::same_as<T, bool>;
template <typename T>
concept RealFloat = std::floating_point<T> || NarrowFloatType<T>;
template <typename T>
concept ComplexElement = kIsComplex<T>;

// Integers are computed unsigned and wide enough that promotion cannot make them signed again: wrap-around is
// what operators promise, and signed overflow is undefined.
template <IntegerElement T>
using Wrapping = std::conditional_t<(sizeof(T) < 8), std::uint32_t, std::uint64_t>;

template <IntegerElement T>
KEYWAY_HD constexpr T wrapping_add(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
}
template <IntegerElement T>
KEYWAY_HD constexpr T wrapping_sub(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
}
template <IntegerElement T>
KEYWAY_HD constexpr T wrapping_mul(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
}
template <IntegerElement T>
KEYWAY_HD constexpr T wrapping_neg(T a) {
  return static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(a));
}

// Sums and products of any element type; integers wrap.
template <typename T>
KEYWAY_HD constexpr T plus(T a, T b) {
  if constexpr (IntegerElement<T>) {
    return wrapping_add(a, b);
  } else {
    return a + b;
  }
}
template <typename T>
KEYWAY_HD constexpr T times(T a, T b) {
  if constexpr (IntegerElement<T>) {
    return wrapping_mul(a, b);
  } else {
    return a * b;
  }
}

// Widened for computing. The way back is T(...) or static_cast<T>.
template <typename T>
KEYWAY_HD constexpr Opmath<T> opmath(T x) {
  return static_cast<Opmath<T>>(x);
}

template <typename T>
KEYWAY_HD constexpr bool is_nan(T x) {
  if constexpr (kIsComplex<T>) {
    return x.real() != x.real() || x.imag() != x.imag();
  } else if constexpr (std::integral<T>) {
    return false;
  } else {
    return x != x;
  }
}

// Whether an element is not zero.
template <typename T>
KEYWAY_HD constexpr bool is_true(T x) {
  if constexpr (std::same_as<T, bool>) {
    return x;
  } else {
    return opmath(x) != Opmath<T>();
  }
}

// -inf or the least integer; inf or the greatest.
template <typename T>
KEYWAY_HD constexpr T lowest_value() {
  if constexpr (std::numeric_limits<T>::has_infinity) return -std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::lowest();
}
template <typename T>
KEYWAY_HD constexpr T highest_value() {
  if constexpr (std::numeric_limits<T>::has_infinity) return std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::max();
}

}  // namespace keyway::inline v1
