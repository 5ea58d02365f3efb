// Reductions to the index of an element, with or without its value: argmax, max.dim and their kin.
#pragma once

#include <keyway/ops/functors/reduction.h>

#include <cstdint>
#include <limits>

namespace keyway::inline v1 {

// A value and where it is.
template <typename T>
struct Located {
  static constexpr int kParts = 2;
  T value;
  std::int64_t index;
};

namespace detail {
// The extreme element and its index: NaN before all numbers, and of equals the first.
template <typename A, bool greatest>
struct Locating {
  using Accumulation = Locating;
  using Element = A;
  using Acc = Located<A>;
  static constexpr bool kIndexed = true;

  KEYWAY_HD constexpr Acc identity() const { return {greatest ? lowest_value<A>() : highest_value<A>(), kNone}; }
  KEYWAY_HD constexpr Acc combine(Acc acc, auto x, std::int64_t index) const {
    return merge(acc, {widened<A>(x), index});
  }
  KEYWAY_HD constexpr Acc merge(Acc a, Acc b) const {
    const bool better = greatest ? b.value > a.value : b.value < a.value;
    const bool a_nan = is_nan(a.value), b_nan = is_nan(b.value);
    const bool equal = (a.value == b.value) | (a_nan & b_nan);
    const bool take = ((better | b_nan) & !a_nan) | (equal & (b.index < a.index));
    return {take ? b.value : a.value, take ? b.index : a.index};
  }

 private:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
};
}  // namespace detail

// Where the greatest element is.
template <typename T>
struct Argmax : detail::Locating<detail::Compared<T>, true> {
  using Element = T;
  KEYWAY_HD constexpr std::int64_t project(Located<detail::Compared<T>> acc, std::int64_t) const { return acc.index; }
};
template <typename T>
struct Argmin : detail::Locating<detail::Compared<T>, false> {
  using Element = T;
  KEYWAY_HD constexpr std::int64_t project(Located<detail::Compared<T>> acc, std::int64_t) const { return acc.index; }
};
// max.dim and min.dim: values and indices.
template <typename T>
struct MaxWithIndex : detail::Locating<detail::Compared<T>, true> {
  using Element = T;
  KEYWAY_HD constexpr Two<T, std::int64_t> project(Located<detail::Compared<T>> acc, std::int64_t) const {
    return {static_cast<T>(acc.value), acc.index};
  }
};
template <typename T>
struct MinWithIndex : detail::Locating<detail::Compared<T>, false> {
  using Element = T;
  KEYWAY_HD constexpr Two<T, std::int64_t> project(Located<detail::Compared<T>> acc, std::int64_t) const {
    return {static_cast<T>(acc.value), acc.index};
  }
};

}  // namespace keyway::inline v1
