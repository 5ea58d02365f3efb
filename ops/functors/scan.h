// Functors of scans: reductions that give a result after every element.
//
// As in reduction.h, but results are projected one by one, and nothing is merged.
#pragma once

#include <keyway/ops/functors/exponential.h>
#include <keyway/ops/functors/sorting.h>

namespace keyway::inline v1 {

namespace detail {
template <typename T>
struct WideOf {
  using type = T;
};
template <RealFloat T>
struct WideOf<T> {
  using type = double;
};
template <ComplexElement T>
struct WideOf<T> {
  using type = complex<double>;
};
// What a running sum is kept in: it cannot be summed pairwise, so floats are added up in double.
template <typename T>
using Running = typename WideOf<T>::type;

// The extreme so far; of equals the last, NaN for ever after.
template <typename T, bool greatest>
struct RunningExtreme {
  using Element = T;
  using Acc = Located<Opmath<T>>;
  static constexpr bool kIndexed = true;

  KEYWAY_HD constexpr Acc identity() const {
    return {greatest ? lowest_value<Opmath<T>>() : highest_value<Opmath<T>>(), 0};
  }
  KEYWAY_HD constexpr Acc combine(Acc acc, T x, std::int64_t index) const {
    const Opmath<T> value = opmath(x);
    const bool reaches = greatest ? value >= acc.value : value <= acc.value;
    return reaches || is_nan(value) ? Acc{value, index} : acc;
  }
  KEYWAY_HD constexpr Two<T, std::int64_t> project(Acc acc, std::int64_t) const {
    return {static_cast<T>(acc.value), acc.index};
  }
};
}  // namespace detail

template <typename T>
struct Cumsum {
  using Element = T;
  using Acc = detail::Running<T>;

  KEYWAY_HD constexpr Acc identity() const { return Acc(); }
  KEYWAY_HD constexpr Acc combine(Acc acc, T x, std::int64_t) const { return plus(acc, detail::widened<Acc>(x)); }
  KEYWAY_HD constexpr T project(Acc acc, std::int64_t) const { return static_cast<T>(acc); }
};

template <typename T>
struct Cumprod {
  using Element = T;
  using Acc = detail::Running<T>;

  KEYWAY_HD constexpr Acc identity() const { return Acc(1); }
  KEYWAY_HD constexpr Acc combine(Acc acc, T x, std::int64_t) const { return times(acc, detail::widened<Acc>(x)); }
  KEYWAY_HD constexpr T project(Acc acc, std::int64_t) const { return static_cast<T>(acc); }
};

// A sum of exponentials, of exp(x - greatest).
struct LogSum {
  double greatest;
  double sum;
};

// The logarithm of the sum of exponentials so far.
template <typename T>
struct Logcumsumexp {
  using Element = T;
  using Acc = LogSum;

  KEYWAY_HD constexpr Acc identity() const { return {-std::numeric_limits<double>::infinity(), 0}; }
  KEYWAY_HD Acc combine(Acc acc, T element, std::int64_t) const {
    const auto x = static_cast<double>(opmath(element));
    if (x != x) return {acc.greatest, x};
    if (x == acc.greatest) return {x, acc.sum + 1};  // both may be infinite
    if (x < acc.greatest) return {acc.greatest, acc.sum + std::exp(x - acc.greatest)};
    return {x, acc.sum * std::exp(acc.greatest - x) + 1};
  }
  KEYWAY_HD T project(Acc acc, std::int64_t) const {
    return static_cast<T>(acc.sum == 0 ? acc.greatest : acc.greatest + std::log(acc.sum));
  }
};

// Of complex numbers one is added to the other, as they are.
template <ComplexElement T>
struct Logcumsumexp<T> {
  using Element = T;
  using Acc = complex<double>;

  KEYWAY_HD constexpr Acc identity() const { return {-std::numeric_limits<double>::infinity(), 0}; }
  KEYWAY_HD Acc combine(Acc acc, T x, std::int64_t) const { return LogAddExp<Acc>()(acc, detail::widened<Acc>(x)); }
  KEYWAY_HD T project(Acc acc, std::int64_t) const { return static_cast<T>(acc); }
};

// cummax and cummin: values and indices.
template <typename T>
struct Cummax : detail::RunningExtreme<T, true> {};
template <typename T>
struct Cummin : detail::RunningExtreme<T, false> {};

}  // namespace keyway::inline v1
