// Magnitudes and signs.
#pragma once

#include <keyway/ops/functors/opmath.h>

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace keyway::inline v1 {

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

// The magnitude of a with the sign of b.
template <typename T>
struct Copysign {
  KEYWAY_HD T operator()(T a, T b) const { return static_cast<T>(std::copysign(opmath(a), opmath(b))); }
};

// 1 above zero, `value` at zero, else 0.
template <typename T>
struct Heaviside {
  KEYWAY_HD constexpr T operator()(T x, T value) const {
    const Opmath<T> wide = opmath(x), zero{};
    return wide == zero ? value : static_cast<T>(wide > zero);
  }
};

// The next number after a in the direction of b.
template <typename T>
struct Nextafter {
  static constexpr bool kKeepsDtype = true;  // float32 has other neighbours

  KEYWAY_HD T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, Opmath<T>>) {
      return std::nextafter(a, b);
    } else {
      return next_narrow(a, b);
    }
  }

 private:
  // Numbers of one sign are in the order of their bits.
  KEYWAY_HD static T next_narrow(T a, T b) {
    const float x = a, y = b;
    if (x != x || y != y) return static_cast<T>(x + y);
    if (x == y) return b;
    constexpr std::uint16_t kSign = 0x8000;
    if (x == 0) return T::from_bits(static_cast<std::uint16_t>((y < 0 ? kSign : 0) + 1));
    const bool outwards = (x < y) == (x > 0);
    return T::from_bits(static_cast<std::uint16_t>(a.bits() + (outwards ? 1 : -1)));
  }
};

}  // namespace keyway::inline v1
