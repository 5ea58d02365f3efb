// The greater or lesser of elements, and what keeps them between bounds.
#pragma once

#include <keyway/ops/functors/argument.h>
#include <keyway/ops/functors/opmath.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace keyway::inline v1 {

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

// Into [min, max], either of which may be absent; `max` where min > max; NaN if one is NaN. Beyond the range of T a
// bound of integers is the end of that range.
template <typename T>
struct Clamp {
  static constexpr bool kWraps = std::integral<T> && sizeof(T) < sizeof(std::int64_t);
  using Bound = std::conditional_t<kWraps, std::int64_t, Rounded<T>>;

  constexpr Clamp(Optional<Bound> min, Optional<Bound> max)
      : min_(opmath(min.given ? within_range(min.value) : lowest_value<T>())),
        max_(opmath(max.given ? within_range(max.value) : highest_value<T>())),
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
  static constexpr T within_range(Bound bound) {
    if constexpr (kWraps) {
      return static_cast<T>(std::clamp<Bound>(bound, lowest_value<T>(), highest_value<T>()));
    } else {
      return bound.value;
    }
  }

  Opmath<T> min_;
  Opmath<T> max_;
  Opmath<T> poison_;  // a bound that is NaN, else 0, which takes nothing from any number
};

}  // namespace keyway::inline v1
