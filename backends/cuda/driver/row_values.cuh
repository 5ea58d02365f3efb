// Values of a row: what a functor calculates of the elements of a row, for rows that are gone through more than once.
//
//   static constexpr int kWidth = kPieceOf<T>;
//   __device__ void operator()(const Row<2>& row, auto held) const {
//     with_values(row, held, [&](const auto& e) { return opmath(e.template get<T>(1)); }, [&](const auto& x) {
//       const Acc top = x.fold(lowest, max, max);
//       const auto powers = x.map([&](Acc value) { return std::exp(value - top); });
//       ...
//       powers.template write<T>(0, [&](const auto&, Acc power) { return power * scale; });
//   rows_of_values<2>(RowPlaces(self.sizes(), dim).tensor(out).tensor(self), functor, out.device());
//
// A thread that has few of them keeps them in registers: they are read, and calculated, once. In longer rows they are
// read each time, from a cache after the first. There is a kernel for each, as registers of one cost all. Where rows
// are shared out the values are those of a team's stretch, and read.
//
// kWidth elements are a piece, which is read or written at once where memory allows; 1 if there is none. Whether a
// thread has pieces or single elements depends on the row's length alone (RowPlaces::pieces).
#pragma once

#include <keyway/backends/cuda/driver/element.cuh>
#include <keyway/backends/cuda/driver/rows.cuh>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace keyway::inline v1::cuda {

// Elements of a piece of which the largest are T.
template <typename... T>
inline constexpr int kPieceOf = 16 / static_cast<int>(std::max({sizeof(T)...}));

// How many values a thread keeps, 0: none; the functor's kWidth, and how many elements are read at once, so many or
// one.
template <int count, int piece = 1, int width = 1>
struct Held {
  // Beside 32 floats the compiler keeps addresses that it could calculate anew, if nobody asks for the registers.
  static constexpr unsigned kBlocks = count > 8 && piece > 2 ? (width > 1 ? 3 : 2) : 0;
};

namespace detail {

// One of `width` elements that are read together, from element `first` of the row on.
template <int N, int width>
class RowElement {
 public:
  __device__ RowElement(const Row<N>& row, std::int64_t first, int j) : row_(row), first_(first), j_(j) {}

  __device__ std::int64_t index() const { return first_ + j_; }
  // Its value in an operand, and in an array that has one for each element of a row (RowPlaces::array).
  template <typename T>
  __device__ T get(int operand) const {
    if constexpr (width == 1) return row_.template at<const T>(operand, first_);
    return read(row_.template neighbours<const T>(operand, first_));
  }
  template <typename T>
  __device__ T of(const T* array) const {
    return read(array + first_);
  }

 private:
  // Elements of a piece read the same one, which is read once.
  template <typename T>
  __device__ T read(const T* first) const {
    const Vector<T, width> piece = *reinterpret_cast<const Vector<T, width>*>(first);
    return piece.of[j_];
  }

  const Row<N>& row_;
  std::int64_t first_;
  int j_;
};

// What values have over groups(f), which calls f(first, values) with `width` of them for each of the thread's groups.
template <typename Self, int N, int width>
class RowValues {
 public:
  __device__ explicit RowValues(const Row<N>& row) : row_(row) {}

  // merge(...) of combine(acc, value) over the row, the same in all threads of the team. Every thread calls it.
  template <typename Acc, typename Combine, typename Merge>
  __device__ Acc fold(const Acc& identity, const Combine& combine, const Merge& merge) const {
    Acc mine = identity;
    self().groups([&](std::int64_t, const auto& values) {
#pragma unroll
      for (int j = 0; j < width; ++j) mine = combine(mine, values[j]);
    });
    return row_.merge_all(mine, merge);
  }
  template <typename Acc>
  __device__ Acc sum() const {
    const auto add = [](Acc a, Acc b) { return a + b; };
    return fold(Acc(0), add, add);
  }
  // f(element, value) for each.
  template <typename F>
  __device__ void each(const F& f) const {
    self().groups([&](std::int64_t first, const auto& values) {
#pragma unroll
      for (int j = 0; j < width; ++j) f(RowElement<N, width>(row_, first, j), values[j]);
    });
  }
  // f(element, value), as R, becomes each element of an operand.
  template <typename R, typename F>
  __device__ void write(int operand, const F& f) const {
    self().groups([&](std::int64_t first, const auto& values) {
      Vector<R, width> out;
#pragma unroll
      for (int j = 0; j < width; ++j) out.of[j] = static_cast<R>(f(RowElement<N, width>(row_, first, j), values[j]));
      if constexpr (width == 1) {
        row_.template at<R>(operand, first) = out.of[0];
      } else {
        *reinterpret_cast<Vector<R, width>*>(row_.template neighbours<R>(operand, first)) = out;
      }
    });
  }

 protected:
  const Row<N>& row_;

 private:
  __device__ const Self& self() const { return static_cast<const Self&>(*this); }
};

// `width` is 1, or `piece`, the functor's.
template <int N, typename V, int held, int width, int piece>
class HeldValues : public RowValues<HeldValues<N, V, held, width, piece>, N, width> {
 public:
  // Whether going through the values once more costs next to nothing.
  static constexpr bool kHeld = true;

  // What get(element) gives.
  template <typename Get>
  __device__ static HeldValues read(const Row<N>& row, const Get& get) {
    return HeldValues(row, [&](int, int j, std::uint32_t first) { return get(RowElement<N, width>(row, first, j)); });
  }
  // What make(group, j, first) gives.
  template <typename Make>
  __device__ HeldValues(const Row<N>& row, const Make& make) : RowValues<HeldValues, N, width>(row) {
#pragma unroll
    for (int g = 0; g < held / width; ++g) {
      if (const std::uint32_t first = group(g); first < row.n()) {
#pragma unroll
        for (int j = 0; j < width; ++j) of_[g][j] = make(g, j, first);
      }
    }
  }

  template <typename F>
  __device__ void groups(const F& f) const {
#pragma unroll
    for (int g = 0; g < held / width; ++g) {
      if (const std::uint32_t first = group(g); first < this->row_.n()) f(first, of_[g]);
    }
  }
  template <typename F>
  __device__ auto map(const F& f) const {
    return HeldValues<N, decltype(f(of_[0][0])), held, width, piece>(
        this->row_, [&](int g, int j, std::uint32_t) { return f(of_[g][j]); });
  }

 private:
  __device__ std::uint32_t group(std::uint32_t g) const { return this->row_.template group<width, piece>(g); }

  V of_[held / width][width];
};

template <int N, typename Get, int width, int piece>
class ReadValues : public RowValues<ReadValues<N, Get, width, piece>, N, width> {
 public:
  static constexpr bool kHeld = false;

  __device__ ReadValues(const Row<N>& row, const Get& get) : RowValues<ReadValues, N, width>(row), get_(get) {}

  // Some, of 32 bytes and more, are read before one is given to f, which may write: so that a thread waits once for
  // them.
  template <typename F>
  __device__ void groups(const F& f) const {
    constexpr int kAhead = width > 1 ? 2 : sizeof(V) > 4 ? 4 : 8;
    const std::int64_t end = this->row_.end();
    std::int64_t g = 0;
    for (; at(g + kAhead - 1) < end; g += kAhead) {
      V values[kAhead][width];
#pragma unroll
      for (int k = 0; k < kAhead; ++k) read(at(g + k), values[k]);
#pragma unroll
      for (int k = 0; k < kAhead; ++k) f(at(g + k), values[k]);
    }
    for (; at(g) < end; ++g) {
      V values[width];
      read(at(g), values);
      f(at(g), values);
    }
  }
  template <typename F>
  __device__ auto map(const F& f) const {
    const auto mapped = [get = get_, f](const RowElement<N, width>& e) { return f(get(e)); };
    return ReadValues<N, decltype(mapped), width, piece>(this->row_, mapped);
  }

 private:
  using V = decltype(std::declval<const Get&>()(std::declval<const RowElement<N, width>&>()));

  __device__ std::int64_t at(std::int64_t g) const {
    return this->row_.first() + this->row_.template group<width, piece>(g);
  }
  __device__ void read(std::int64_t first, V (&values)[width]) const {
#pragma unroll
    for (int j = 0; j < width; ++j) values[j] = get_(RowElement<N, width>(this->row_, first, j));
  }

  std::remove_const_t<Get> get_;
};

}  // namespace detail

// Calls f(values) with those that get(element) gives. Every thread calls it. Requires: the row is not shared out, or
// nothing is held, one by one.
template <int N, int held, int piece, int width, typename Get, typename F>
__device__ void with_values(const Row<N>& row, Held<held, piece, width>, const Get& get, const F& f) {
  if constexpr (held > 0) {
    using V = decltype(get(std::declval<const detail::RowElement<N, width>&>()));
    f(detail::HeldValues<N, V, held, width, piece>::read(row, get));
  } else {
    f(detail::ReadValues<N, Get, width, piece>(row, get));
  }
}

namespace detail {

template <typename F>
constexpr int width_of() {
  if constexpr (requires { F::kWidth; }) {
    return F::kWidth;
  } else {
    return 1;
  }
}

template <typename F, typename Held>
struct WithHeld {
  static constexpr const char* kRefusal = kRefusalOf<F>;
  static constexpr unsigned kBlocks = Held::kBlocks;
  F functor;

  __device__ auto operator()(const auto& row) const { return functor(row, Held()); }
};

// `each`: elements that a thread has at most.
template <int N, int width, typename F>
void rows_of_held(const RowPlaces& places, std::int64_t each, const F& functor, Device on) {
  constexpr int kPiece = width_of<F>();
  if (each <= 8) return rows<N>(places, WithHeld<F, Held<8, kPiece, width>>{functor}, on);
  if (each <= 32) return rows<N>(places, WithHeld<F, Held<32, kPiece, width>>{functor}, on);
  rows<N>(places, WithHeld<F, Held<0, kPiece, width>>{functor}, on);
}

}  // namespace detail

// rows(), for a functor that also takes a Held. A thread has 8 or 32 elements of rows of up to 8,192
// (RowPlaces::pieces); beyond, registers for all would leave room for few threads. Requires: the rows are not shared
// out.
template <int N, typename F>
void rows_of_values(RowPlaces& places, const F& functor, Device on) {
  constexpr int kWidth = detail::width_of<F>();
  const std::int64_t each = places.pieces(kWidth);
  if (kWidth > 1 && places.in_pieces()) return detail::rows_of_held<N, kWidth>(places, each, functor, on);
  detail::rows_of_held<N, 1>(places, each, functor, on);
}

}  // namespace keyway::inline v1::cuda
