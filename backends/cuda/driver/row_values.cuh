// Values of a row: what a functor calculates of the elements of a row, for rows that are gone through more than once.
//
//   static constexpr int kWidth = kPieceOf<T>;
//   __device__ void operator()(const Row<2>& row, auto held) const {
//     const auto x = values_of(row, held, [](T element) { return opmath(element); }, Operand<T>{1});
//     const Acc top = x.fold(lowest, max, max);
//     const auto powers = x.map([&](Acc value) { return std::exp(value - top); });
//     ...
//     powers.template write<T>(0, [&](Acc power) { return power * scale; });
//   rows_of_values<2>(RowSpace(self.sizes(), dim).tensor(out).tensor(self), functor, out.device());
//
// A thread that has few of them keeps them in registers: they are read, and calculated, once. In longer rows they are
// read each time, from a cache after the first. There is a kernel for each, as registers of one cost all. Where rows
// are shared out the values are those of a team's stretch, and read.
//
// kWidth elements are a piece, which is read or written at once where memory allows; 1 if there is none. Whether a
// thread has pieces or single elements depends on the row's length alone (RowSpace::pieces).
#pragma once

#include <keyway/backends/cuda/driver/element.cuh>
#include <keyway/backends/cuda/driver/rows.cuh>

#include <algorithm>
#include <cstdint>
#include <tuple>
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

// ---- What values are calculated of. piece<width, once>(row, first) is what elements first to first + width - 1 have;
// `once`: they are not read again, and need not stay in a cache. ----

// Elements of an operand of the row.
template <typename T>
struct Operand {
  using Value = T;
  int number;

  template <int width, bool once, int N>
  __device__ auto piece(const Row<N>& row, std::int64_t first) const {
    using Piece = detail::Vector<T, width>;
    if constexpr (width == 1) {
      Piece one;
      one.of[0] = row.template at<const T>(number, first);
      return one;
    } else {
      const auto* const at = reinterpret_cast<const Piece*>(row.template neighbours<const T>(number, first));
      return once ? detail::load_once(at) : *at;
    }
  }
};

// Of an array that has one for each element of a row (RowSpace::array), or `otherwise` if it is null.
template <typename T>
struct ArrayOr {
  using Value = T;
  const T* data;
  T otherwise;

  template <int width, bool, int N>
  __device__ auto piece(const Row<N>&, std::int64_t first) const {
    using Piece = detail::Vector<T, width>;
    if (data != nullptr) return *reinterpret_cast<const Piece*>(data + first);
    Piece all;
    for (int j = 0; j < width; ++j) all.of[j] = otherwise;
    return all;
  }
};

// Where elements are in the row.
struct Index {
  using Value = std::int64_t;

  template <int width, bool, int N>
  __device__ auto piece(const Row<N>&, std::int64_t first) const {
    detail::Some<std::int64_t, width> all;
    for (int j = 0; j < width; ++j) all.of[j] = first + j;
    return all;
  }
};

namespace detail {

// f of what the sources have of an element.
template <typename F, typename... S>
struct Calculated {
  using Value = decltype(std::declval<const F&>()(std::declval<typename S::Value>()...));
  F f;
  std::tuple<S...> sources;

  template <bool once, int N, int width>
  __device__ void read(const Row<N>& row, std::int64_t first, Value (&values)[width]) const {
    read_each<once>(row, first, values, std::index_sequence_for<S...>());
  }

 private:
  template <bool once, int N, int width, std::size_t... k>
  __device__ void read_each(const Row<N>& row, std::int64_t first, Value (&values)[width],
                            std::index_sequence<k...>) const {
    const auto calculate = [&](const auto&... pieces) {
#pragma unroll
      for (int j = 0; j < width; ++j) values[j] = f(pieces.of[j]...);
    };
    calculate(std::get<k>(sources).template piece<width, once>(row, first)...);
  }
};
// f of what is read.
template <typename Read, typename F>
struct Mapped {
  using Value = decltype(std::declval<const F&>()(std::declval<typename Read::Value>()));
  Read from;
  F f;

  template <bool once, int N, int width>
  __device__ void read(const Row<N>& row, std::int64_t first, Value (&values)[width]) const {
    typename Read::Value before[width];
    from.template read<once>(row, first, before);
#pragma unroll
    for (int j = 0; j < width; ++j) values[j] = f(before[j]);
  }
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
  // f(index, value) for each.
  template <typename F>
  __device__ void each(const F& f) const {
    self().groups([&](std::int64_t first, const auto& values) {
#pragma unroll
      for (int j = 0; j < width; ++j) f(first + j, values[j]);
    });
  }
  // f(value, what the sources have...), as R, becomes each element of an operand.
  template <typename R, typename F, typename... S>
  __device__ void write(int operand, const F& f, const S&... sources) const {
    self().groups([&](std::int64_t first, const auto& values) {
      const auto calculate = [&](const auto&... pieces) {
        Vector<R, width> out;
#pragma unroll
        for (int j = 0; j < width; ++j) out.of[j] = static_cast<R>(f(values[j], pieces.of[j]...));
        if constexpr (width == 1) {
          row_.template at<R>(operand, first) = out.of[0];
        } else {
          *reinterpret_cast<Vector<R, width>*>(row_.template neighbours<R>(operand, first)) = out;
        }
      };
      calculate(sources.template piece<width, false>(row_, first)...);
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

  // fill(group, first, values) gives those of each group that exists.
  template <typename Fill>
  __device__ HeldValues(const Row<N>& row, const Fill& fill) : RowValues<HeldValues, N, width>(row) {
#pragma unroll
    for (int g = 0; g < held / width; ++g) {
      if (const std::uint32_t first = group(g); first < row.n()) fill(g, first, of_[g]);
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
    using M = decltype(f(of_[0][0]));
    return HeldValues<N, M, held, width, piece>(this->row_, [&](int g, std::uint32_t, M(&values)[width]) {
#pragma unroll
      for (int j = 0; j < width; ++j) values[j] = f(of_[g][j]);
    });
  }

 private:
  __device__ std::uint32_t group(std::uint32_t g) const { return this->row_.template group<width, piece>(g); }

  V of_[held / width][width];
};

template <int N, typename Read, int width, int piece>
class ReadValues : public RowValues<ReadValues<N, Read, width, piece>, N, width> {
 public:
  static constexpr bool kHeld = false;

  __device__ ReadValues(const Row<N>& row, const Read& read) : RowValues<ReadValues, N, width>(row), read_(read) {}

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
      for (int k = 0; k < kAhead; ++k) read_.template read<false>(this->row_, at(g + k), values[k]);
#pragma unroll
      for (int k = 0; k < kAhead; ++k) f(at(g + k), values[k]);
    }
    for (; at(g) < end; ++g) {
      V values[width];
      read_.template read<false>(this->row_, at(g), values);
      f(at(g), values);
    }
  }
  template <typename F>
  __device__ auto map(const F& f) const {
    return ReadValues<N, Mapped<Read, F>, width, piece>(this->row_, Mapped<Read, F>{read_, f});
  }

 private:
  using V = typename Read::Value;

  __device__ std::int64_t at(std::int64_t g) const {
    return this->row_.first() + this->row_.template group<width, piece>(g);
  }

  Read read_;
};

}  // namespace detail

// Those that f gives for what the sources have of each element. Every thread calls it. Requires: the row is not shared
// out, or nothing is held, one by one.
template <int N, int held, int piece, int width, typename F, typename... S>
__device__ auto values_of(const Row<N>& row, Held<held, piece, width>, const F& f, const S&... sources) {
  using Read = detail::Calculated<F, S...>;
  const Read read{f, {sources...}};
  if constexpr (held > 0) {
    using V = typename Read::Value;
    return detail::HeldValues<N, V, held, width, piece>(
        row, [&](int, std::uint32_t first, V(&values)[width]) { read.template read<true>(row, first, values); });
  } else {
    return detail::ReadValues<N, Read, width, piece>(row, read);
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
  static constexpr const char* kElementError = kElementErrorOf<F>;
  static constexpr unsigned kBlocks = Held::kBlocks;
  F functor;

  __device__ auto operator()(const auto& row) const { return functor(row, Held()); }
};

// `each`: elements that a thread has at most.
template <int N, int width, typename F>
void rows_of_held(const RowSpace& row_space, std::int64_t each, const F& functor, Device on) {
  constexpr int kPiece = width_of<F>();
  if (each <= 8) return rows<N>(row_space, WithHeld<F, Held<8, kPiece, width>>{functor}, on);
  if (each <= 32) return rows<N>(row_space, WithHeld<F, Held<32, kPiece, width>>{functor}, on);
  rows<N>(row_space, WithHeld<F, Held<0, kPiece, width>>{functor}, on);
}

}  // namespace detail

// rows(), for a functor that also takes a Held. A thread has 8 or 32 elements of rows of up to 8,192
// (RowSpace::pieces); beyond, registers for all would leave room for few threads. Requires: the rows are not shared
// out.
template <int N, typename F>
void rows_of_values(RowSpace& row_space, const F& functor, Device on) {
  constexpr int kWidth = detail::width_of<F>();
  const std::int64_t each = row_space.pieces(kWidth);
  if (kWidth > 1 && row_space.in_pieces()) return detail::rows_of_held<N, kWidth>(row_space, each, functor, on);
  detail::rows_of_held<N, 1>(row_space, each, functor, on);
}

}  // namespace keyway::inline v1::cuda
