// Reductions to the place of an element, with or without its value: argmax, max.dim and their kin.
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
// The extreme element and its place: NaN before all numbers, and of equals the first.
template <typename T, bool greatest>
struct Extreme {
  using Element = T;
  using Acc = Located<Opmath<T>>;
  static constexpr bool kIndexed = true;

  KEYWAY_HD constexpr Acc identity() const {
    return {greatest ? lowest_value<Opmath<T>>() : highest_value<Opmath<T>>(), kNone};
  }
  KEYWAY_HD constexpr Acc combine(Acc acc, T x, std::int64_t index) const { return merge(acc, {opmath(x), index}); }
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
struct Argmax : detail::Extreme<T, true> {
  KEYWAY_HD constexpr std::int64_t project(Located<Opmath<T>> acc, std::int64_t) const { return acc.index; }
};
template <typename T>
struct Argmin : detail::Extreme<T, false> {
  KEYWAY_HD constexpr std::int64_t project(Located<Opmath<T>> acc, std::int64_t) const { return acc.index; }
};
// max.dim and min.dim: values and indices.
template <typename T>
struct MaxWithIndex : detail::Extreme<T, true> {
  KEYWAY_HD constexpr Two<T, std::int64_t> project(Located<Opmath<T>> acc, std::int64_t) const {
    return {static_cast<T>(acc.value), acc.index};
  }
};
template <typename T>
struct MinWithIndex : detail::Extreme<T, false> {
  KEYWAY_HD constexpr Two<T, std::int64_t> project(Located<Opmath<T>> acc, std::int64_t) const {
    return {static_cast<T>(acc.value), acc.index};
  }
};

}  // namespace keyway::inline v1
