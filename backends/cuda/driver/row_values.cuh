// Values of a row: what a functor calculates of the elements of a row, for rows that are gone through more than once.
//
//   __device__ void operator()(const Row<2>& row, auto held) const {
//     with_values(row, held, [&](std::int64_t i) { return opmath(row.at<const T>(1, i)); }, [&](const auto& x) {
//       const Acc top = x.fold(lowest, max, max);
//       const auto powers = x.map([&](Acc value) { return std::exp(value - top); });
//       ...
//   rows_of_values<2>(RowPlaces(self.sizes(), dim).tensor(out).tensor(self), functor, out.device());
//
// A thread that has few of them keeps them in registers: they are read, and calculated, once. In longer rows they are
// read each time, from a cache after the first. There is a kernel for each, as registers of one cost all. Where rows
// are shared out the values are those of a team's stretch, and read.
#pragma once

#include <keyway/backends/cuda/driver/rows.cuh>

#include <cstdint>
#include <type_traits>

namespace keyway::inline v1::cuda {

// How many values a thread keeps; 0: none.
template <int count>
using Held = std::integral_constant<int, count>;

namespace detail {

// What both kinds have, over each(f), which calls f(i, value) for the thread's elements.
template <typename Self, typename Row>
class RowValues {
 public:
  __device__ explicit RowValues(const Row& row) : row_(row) {}

  // merge(...) of combine(acc, value) over the row, the same in all threads of the team. Every thread calls it.
  template <typename Acc, typename Combine, typename Merge>
  __device__ Acc fold(const Acc& identity, const Combine& combine, const Merge& merge) const {
    Acc mine = identity;
    static_cast<const Self&>(*this).each([&](std::int64_t, const auto& value) { mine = combine(mine, value); });
    return row_.merge_all(mine, merge);
  }
  template <typename Acc>
  __device__ Acc sum() const {
    const auto add = [](Acc a, Acc b) { return a + b; };
    return fold(Acc(0), add, add);
  }

 protected:
  const Row& row_;
};

template <typename Row, typename V, int held>
class HeldValues : public RowValues<HeldValues<Row, V, held>, Row> {
 public:
  // Whether going through the values once more costs next to nothing.
  static constexpr bool kHeld = true;

  template <typename Get>
  __device__ HeldValues(const Row& row, const Get& get) : RowValues<HeldValues, Row>(row) {
#pragma unroll
    for (int j = 0; j < held; ++j) {
      if (const std::int64_t i = element(j); i < row.n()) of_[j] = get(i, j);
    }
  }

  template <typename F>
  __device__ void each(const F& f) const {
#pragma unroll
    for (int j = 0; j < held; ++j) {
      if (const std::int64_t i = element(j); i < this->row_.n()) f(i, of_[j]);
    }
  }
  template <typename F>
  __device__ auto map(const F& f) const {
    return HeldValues<Row, decltype(f(of_[0])), held>(this->row_, [&](std::int64_t, int j) { return f(of_[j]); });
  }

 private:
  __device__ std::int64_t element(int j) const {
    return this->row_.rank() + static_cast<std::uint32_t>(j) * this->row_.size();
  }

  V of_[held];
};

template <typename Row, typename Get>
class ReadValues : public RowValues<ReadValues<Row, Get>, Row> {
 public:
  static constexpr bool kHeld = false;

  __device__ ReadValues(const Row& row, const Get& get) : RowValues<ReadValues, Row>(row), get_(get) {}

  // Some, of 32 bytes and more, are read before one is given to f, which may write: so that a thread waits once for
  // them.
  template <typename F>
  __device__ void each(const F& f) const {
    using V = decltype(get_(0));
    constexpr int kAhead = sizeof(V) > 4 ? 4 : 8;
    const std::int64_t end = this->row_.end(), step = this->row_.size();
    std::int64_t i = this->row_.first() + this->row_.rank();
    for (; i + (kAhead - 1) * step < end; i += kAhead * step) {
      V values[kAhead];
#pragma unroll
      for (int j = 0; j < kAhead; ++j) values[j] = get_(i + j * step);
#pragma unroll
      for (int j = 0; j < kAhead; ++j) f(i + j * step, values[j]);
    }
    for (; i < end; i += step) f(i, get_(i));
  }
  template <typename F>
  __device__ auto map(const F& f) const {
    const auto mapped = [get = get_, f](std::int64_t i) { return f(get(i)); };
    return ReadValues<Row, decltype(mapped)>(this->row_, mapped);
  }

 private:
  std::remove_const_t<Get> get_;
};

}  // namespace detail

// Calls f(values) with those that get(i) gives. Every thread calls it. Requires: the row is not shared out, or held is
// 0.
template <int N, int held, typename Get, typename F>
__device__ void with_values(const Row<N>& row, Held<held>, const Get& get, const F& f) {
  if constexpr (held > 0) {
    f(detail::HeldValues<Row<N>, decltype(get(0)), held>(row, [&](std::int64_t i, int) { return get(i); }));
  } else {
    f(detail::ReadValues<Row<N>, Get>(row, get));
  }
}

namespace detail {

template <int held, typename F>
struct WithHeld {
  static constexpr const char* kRefusal = kRefusalOf<F>;
  F functor;

  __device__ auto operator()(const auto& row) const { return functor(row, Held<held>()); }
};

}  // namespace detail

// rows(), for a functor that also takes a Held. A thread of a team has eight elements of rows of up to 2,048
// (teams.cpp), which is enough on its way; beyond 8,192, registers for all would leave room for few threads. Requires:
// the rows are not shared out.
template <int N, typename F>
void rows_of_values(const RowPlaces& places, const F& functor, Device on) {
  const std::int64_t each = places.per_thread();
  if (each <= 8) return rows<N>(places, detail::WithHeld<8, F>{functor}, on);
  if (each <= 32) return rows<N>(places, detail::WithHeld<32, F>{functor}, on);
  rows<N>(places, detail::WithHeld<0, F>{functor}, on);
}

}  // namespace keyway::inline v1::cuda
