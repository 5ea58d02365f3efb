// Functors of reductions.
//
// A reduction functor over elements of type Element has an accumulator type Acc, trivially copyable, and
//   Acc identity() const;                                     of no elements
//   Acc combine(Acc acc, Element x, std::int64_t index) const;
//   Acc merge(Acc a, Acc b) const;                            of disjoint sets of elements, in any order
//   Result project(Acc acc, std::int64_t count) const;        the result, from all `count` elements
// `index` is an element's position among those reduced, in row-major order; a functor that uses it sets
// kIndexed. Where combine() selects by comparison kSelects says so: compilers make jumps of chains of
// selections. An Acc that is a struct says in kParts how many members it has, so that a driver can keep them
// in arrays apart. A Result that is a Two<A, B> goes into two tensors.
//
// What several functors accumulate alike is their base, named Accumulation: all but project(). It has an Element of
// its own, wide enough for those of all of them, and its combine() takes these and those. A driver may convert elements
// to it on their way and run one loop for all; that makes no difference to a result.
//
// Members, and choose(), are as in argument.h.
#pragma once

#include <keyway/ops/functors/argument.h>
#include <keyway/ops/functors/extrema.h>
#include <keyway/ops/functors/opmath.h>
#include <keyway/ops/functors/sign.h>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace keyway::inline v1 {

template <typename A, typename B>
struct Two {
  A first;
  B second;
};

namespace detail {
// Of any element type the number in a type of accumulators.
template <typename To, typename From>
KEYWAY_HD constexpr To widened(From x) {
  if constexpr (std::same_as<To, Opmath<From>>) {
    return opmath(x);
  } else {
    return static_cast<To>(x);
  }
}

// What sums and products of results R are kept in: all integers as int64, of which they are the low bits.
template <typename R>
using Total = std::conditional_t<IntegerElement<R>, std::int64_t, Opmath<R>>;
// What elements T are compared as.
template <typename T>
using Compared = std::conditional_t<std::integral<T> && (sizeof(T) < 4), std::int32_t,
                                    std::conditional_t<std::same_as<T, std::uint32_t>, std::int64_t, Opmath<T>>>;
}  // namespace detail

namespace detail {
template <typename A>
struct Summing {
  using Accumulation = Summing;
  using Element = A;
  using Acc = A;

  KEYWAY_HD constexpr Acc identity() const { return Acc(); }
  KEYWAY_HD constexpr Acc combine(Acc acc, auto x, std::int64_t) const { return plus(acc, widened<Acc>(x)); }
  KEYWAY_HD constexpr Acc merge(Acc a, Acc b) const { return plus(a, b); }
};
}  // namespace detail

// The sum of elements T as an R.
template <typename T, typename R = T>
struct Sum : detail::Summing<detail::Total<R>> {
  using Element = T;
  KEYWAY_HD constexpr R project(detail::Total<R> acc, std::int64_t) const { return static_cast<R>(acc); }
};

// The sum divided by the count; NaN of none.
template <typename T>
struct Mean : detail::Summing<detail::Total<T>> {
  using Element = T;
  KEYWAY_HD constexpr T project(detail::Total<T> acc, std::int64_t count) const {
    return static_cast<T>(acc / static_cast<Real<detail::Total<T>>>(count));
  }
};

namespace detail {
template <typename A>
struct Multiplying {
  using Accumulation = Multiplying;
  using Element = A;
  using Acc = A;

  KEYWAY_HD constexpr Acc identity() const { return Acc(1); }
  KEYWAY_HD constexpr Acc combine(Acc acc, auto x, std::int64_t) const { return merge(acc, widened<Acc>(x)); }
  KEYWAY_HD constexpr Acc merge(Acc a, Acc b) const {
    if constexpr (std::same_as<Acc, bool>) {
      return a && b;
    } else {
      return times(a, b);
    }
  }
};
}  // namespace detail

// The product of elements T as an R.
template <typename T, typename R = T>
struct Prod : detail::Multiplying<detail::Total<R>> {
  using Element = T;
  KEYWAY_HD constexpr R project(detail::Total<R> acc, std::int64_t) const { return static_cast<R>(acc); }
};

namespace detail {
// The greatest element, or the least; NaN if there is one.
template <typename A, bool greatest>
struct Selecting {
  using Accumulation = Selecting;
  using Element = A;
  using Acc = A;
  static constexpr bool kSelects = true;

  KEYWAY_HD constexpr Acc identity() const { return greatest ? lowest_value<Acc>() : highest_value<Acc>(); }
  KEYWAY_HD constexpr Acc combine(Acc acc, auto x, std::int64_t) const { return merge(acc, widened<Acc>(x)); }
  KEYWAY_HD constexpr Acc merge(Acc a, Acc b) const { return greatest ? Maximum<Acc>{}(a, b) : Minimum<Acc>{}(a, b); }
};
}  // namespace detail

// The greatest element; NaN if there is one.
template <typename T>
struct Amax : detail::Selecting<detail::Compared<T>, true> {
  using Element = T;
  KEYWAY_HD constexpr T project(detail::Compared<T> acc, std::int64_t) const { return static_cast<T>(acc); }
};

// The least element; NaN if there is one.
template <typename T>
struct Amin : detail::Selecting<detail::Compared<T>, false> {
  using Element = T;
  KEYWAY_HD constexpr T project(detail::Compared<T> acc, std::int64_t) const { return static_cast<T>(acc); }
};

namespace detail {
// What a truth about elements is given as: of uint8 they are uint8.
template <typename T>
using Truth = std::conditional_t<std::same_as<T, std::uint8_t>, std::uint8_t, bool>;

// Whether all are true, or any.
template <bool all>
struct Truths {
  using Accumulation = Truths;
  using Element = bool;
  using Acc = std::uint8_t;

  KEYWAY_HD constexpr Acc identity() const { return all ? 1 : 0; }
  KEYWAY_HD constexpr Acc combine(Acc acc, auto x, std::int64_t) const { return merge(acc, is_true(x) ? 1 : 0); }
  KEYWAY_HD constexpr Acc merge(Acc a, Acc b) const { return static_cast<Acc>(all ? a & b : a | b); }
};
}  // namespace detail

// Whether an element is not zero.
template <typename T>
struct Any : detail::Truths<false> {
  using Element = T;
  KEYWAY_HD constexpr detail::Truth<T> project(Acc acc, std::int64_t) const { return acc != 0; }
};

// Whether no element is zero.
template <typename T>
struct All : detail::Truths<true> {
  using Element = T;
  KEYWAY_HD constexpr detail::Truth<T> project(Acc acc, std::int64_t) const { return acc != 0; }
};

namespace detail {
// What squares of elements are added up in: their range is twice that of float32.
template <typename A>
using Doubled = std::conditional_t<kIsComplex<A>, complex<double>, double>;

template <typename A>
KEYWAY_HD constexpr Real<A> squared_size(A x) {
  if constexpr (kIsComplex<A>) {
    return x.real() * x.real() + x.imag() * x.imag();
  } else {
    return x * x;
  }
}
}  // namespace detail

// Count, mean and sum of squared deviations from it.
template <typename T>
struct Moments {
  static constexpr int kParts = 3;
  T mean;
  Real<T> squares;
  Real<T> count;
};

// Of two sets that have no element in common (Chan, Golub and LeVeque): no cancellation, whatever the means. The mean
// is infinite where theirs are of one sign.
template <typename T>
KEYWAY_HD constexpr Moments<T> merged(Moments<T> a, Moments<T> b) {
  if (a.count == 0) return b;
  if (b.count == 0) return a;
  const Real<T> count = a.count + b.count;
  const T apart = b.mean - a.mean;
  const bool is_finite = apart - apart == T();
  return {is_finite ? a.mean + apart * (b.count / count) : a.mean * (a.count / count) + b.mean * (b.count / count),
          a.squares + b.squares + detail::squared_size(apart) * (a.count * b.count / count), count};
}

// The same while elements come: how far they are from the first of them, added up, and the squares of that. No element
// needs a division, and the difference of squares that moments() takes costs at most as many bits as the number of
// elements has.
template <typename T>
struct Deviations {
  static constexpr int kParts = 4;
  T origin, sum;
  Real<T> squares, count;

  KEYWAY_HD constexpr Moments<T> moments() const {
    const Real<T> rest = squares - detail::squared_size(sum) / count;
    return {origin + sum / count, rest < 0 ? Real<T>(0) : rest, count};
  }
};

namespace detail {
template <typename A>
struct Spread {
  using Accumulation = Spread;
  using Element = A;
  using Wide = Doubled<A>;
  using Acc = Deviations<Wide>;

  KEYWAY_HD constexpr Acc identity() const { return {Wide(), Wide(), 0, 0}; }
  KEYWAY_HD constexpr Acc combine(Acc acc, auto x, std::int64_t) const {
    const auto wide = static_cast<Wide>(opmath(x));
    acc.origin = acc.count == 0 ? wide : acc.origin;
    const Wide apart = wide - acc.origin;
    acc.sum = acc.sum + apart;
    acc.squares += squared_size(apart);
    acc.count += 1;
    return acc;
  }
  KEYWAY_HD constexpr Acc merge(Acc a, Acc b) const {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    const Moments<Wide> all = merged(a.moments(), b.moments());
    return {all.mean, Wide(), all.squares, all.count};
  }
};

// What has a correction, which is taken off the count.
template <typename T>
struct Corrected : Spread<Opmath<T>> {
  using Element = T;
  constexpr explicit Corrected(const auto& correction) : correction_(given_or_1(correction)) {}

 protected:
  KEYWAY_HD constexpr double variance(const auto& acc) const {
    const double divisor = acc.count - correction_;
    return acc.moments().squares / (divisor > 0 ? divisor : 0.0);
  }

 private:
  // What converts to an optional number does so here: a constructor that took one would compete with that which copies.
  static constexpr double given_or_1(Optional<double> correction) { return correction.value_or(1.0); }

  double correction_;
};
}  // namespace detail

// var.correction: the mean squared deviation, of count - correction; the correction is 1 if absent.
template <typename T>
struct Variance : detail::Corrected<T> {
  using detail::Corrected<T>::Corrected;

  KEYWAY_HD constexpr Real<T> project(Deviations<detail::Doubled<T>> acc, std::int64_t) const {
    return static_cast<Real<T>>(this->variance(acc));
  }
};

// std.correction: its square root.
template <typename T>
struct Std : detail::Corrected<T> {
  using detail::Corrected<T>::Corrected;

  KEYWAY_HD Real<T> project(Deviations<detail::Doubled<T>> acc, std::int64_t) const {
    return static_cast<Real<T>>(std::sqrt(this->variance(acc)));
  }
};

// var_mean.correction: variance and mean.
template <typename T>
struct VarMean : detail::Corrected<T> {
  using detail::Corrected<T>::Corrected;

  KEYWAY_HD constexpr Two<Real<T>, T> project(Deviations<detail::Doubled<T>> acc, std::int64_t) const {
    return {static_cast<Real<T>>(this->variance(acc)), static_cast<T>(acc.moments().mean)};
  }
};

namespace detail {
template <typename A>
struct SummingSquares {
  using Accumulation = SummingSquares;
  using Element = A;
  using Acc = double;

  KEYWAY_HD constexpr Acc identity() const { return Acc(0); }
  KEYWAY_HD constexpr Acc combine(Acc acc, auto x, std::int64_t) const {
    return acc + squared_size(static_cast<Doubled<A>>(opmath(x)));
  }
  KEYWAY_HD constexpr Acc merge(Acc a, Acc b) const { return a + b; }
};
}  // namespace detail

// The root of the sum of squared magnitudes.
template <typename T>
struct EuclideanNorm : detail::SummingSquares<Opmath<T>> {
  using Element = T;
  KEYWAY_HD Real<T> project(double acc, std::int64_t) const { return static_cast<Real<T>>(std::sqrt(acc)); }
};

namespace detail {
struct Counting {
  using Accumulation = Counting;
  using Element = bool;
  using Acc = std::int64_t;

  KEYWAY_HD constexpr Acc identity() const { return 0; }
  KEYWAY_HD constexpr Acc combine(Acc acc, auto x, std::int64_t) const { return acc + (is_true(x) ? 1 : 0); }
  KEYWAY_HD constexpr Acc merge(Acc a, Acc b) const { return a + b; }
};
}  // namespace detail

// How many elements are not zero.
template <typename T>
struct CountNonzero : detail::Counting {
  using Element = T;
  KEYWAY_HD constexpr std::int64_t project(Acc acc, std::int64_t) const { return acc; }
};

}  // namespace keyway::inline v1
