// The loops of reductions: what is compiled once an accumulation, some of it for each level, and once a functor.
#pragma once

#include <keyway/backends/cpu/loop.h>
#include <keyway/backends/cpu/simd/level.h>
#include <keyway/core/dtype/cpp_type.h>
#include <keyway/ops/functors/reduction.h>

#include <cstdint>
#include <tuple>
#include <type_traits>

namespace keyway::inline v1::detail {

// Lanes that the elements of one output are spread over.
inline constexpr std::int64_t kLanes = 64;
// Rows of elements that are accumulated one after another before they are merged with others.
inline constexpr std::int64_t kBlockRows = 64;

// `rows` rows of `width` elements. The elements of a row are adjacent; the index of element j in row r is
// index + r * row_step + j * lane_step.
struct Rows {
  const char* data;
  std::int64_t stride;  // bytes
  std::int64_t rows;
  std::int64_t width;
  std::int64_t index;
  std::int64_t row_step;
  std::int64_t lane_step;
  // As many rows again, so many bytes further on, whose accumulators stand behind the others; 0: none. Only where width
  // is kLanes and ReduceOp::twins. Some fetch ahead within pages only: two locations come sooner than one.
  std::int64_t twin = 0;
};

// Where results go: `stride` bytes apart.
struct Results {
  char* data[2];
  std::int64_t stride[2];
};

// Outputs of which each has `length` adjacent elements, at most kLanes * kBlockRows; the first elements of
// neighbours are `stride` bytes apart. Index steps by `step` from 0.
struct Runs {
  const char* data;
  std::int64_t stride;
  std::int64_t length;
  std::int64_t outputs;
  std::int64_t step;
};

// An array of accumulators. The members of a struct lie in arrays of their own, `capacity` elements each, one
// after the other: only so loops over accumulators become vector code.
template <typename Acc>
class AccArray {
 public:
  static constexpr int kParts = [] {
    if constexpr (requires { Acc::kParts; }) {
      return Acc::kParts;
    } else {
      return 1;
    }
  }();

  KEYWAY_INLINE AccArray(char* data, std::int64_t capacity) {
    if constexpr (kParts == 1) {
      parts_ = {reinterpret_cast<Acc*>(data)};
    } else {
      place(data, capacity, std::make_index_sequence<kParts>());
    }
  }
  static constexpr std::size_t bytes() { return sum_of_sizes(std::make_index_sequence<kParts>()); }

  KEYWAY_INLINE Acc get(std::int64_t j) const {
    return std::apply([&](auto*... part) { return Acc{part[j]...}; }, parts_);
  }
  KEYWAY_INLINE void set(std::int64_t j, Acc acc) const {
    if constexpr (kParts == 1) {
      std::get<0>(parts_)[j] = acc;
    } else if constexpr (kParts == 2) {
      const auto& [a, b] = acc;
      std::get<0>(parts_)[j] = a;
      std::get<1>(parts_)[j] = b;
    } else if constexpr (kParts == 3) {
      const auto& [a, b, c] = acc;
      std::get<0>(parts_)[j] = a;
      std::get<1>(parts_)[j] = b;
      std::get<2>(parts_)[j] = c;
    } else {
      const auto& [a, b, c, d] = acc;
      std::get<0>(parts_)[j] = a;
      std::get<1>(parts_)[j] = b;
      std::get<2>(parts_)[j] = c;
      std::get<3>(parts_)[j] = d;
    }
  }

 private:
  static auto pointers() {
    if constexpr (kParts == 1) {
      return std::tuple<Acc*>();
    } else {
      Acc acc{};
      if constexpr (kParts == 2) {
        auto& [a, b] = acc;
        return std::tuple<std::remove_cvref_t<decltype(a)>*, std::remove_cvref_t<decltype(b)>*>();
      } else if constexpr (kParts == 3) {
        auto& [a, b, c] = acc;
        return std::tuple<std::remove_cvref_t<decltype(a)>*, std::remove_cvref_t<decltype(b)>*,
                          std::remove_cvref_t<decltype(c)>*>();
      } else {
        auto& [a, b, c, d] = acc;
        return std::tuple<std::remove_cvref_t<decltype(a)>*, std::remove_cvref_t<decltype(b)>*,
                          std::remove_cvref_t<decltype(c)>*, std::remove_cvref_t<decltype(d)>*>();
      }
    }
  }
  using Pointers = decltype(pointers());
  template <std::size_t k>
  using Part = std::remove_pointer_t<std::tuple_element_t<k, Pointers>>;

  template <std::size_t... k>
  static constexpr std::size_t sum_of_sizes(std::index_sequence<k...>) {
    return (std::size_t{0} + ... + sizeof(Part<k>));
  }
  template <std::size_t... k>
  KEYWAY_INLINE void place(char* data, std::int64_t capacity, std::index_sequence<k...>) {
    ((std::get<k>(parts_) = reinterpret_cast<Part<k>*>(
          data + capacity * static_cast<std::int64_t>(sum_of_sizes(std::make_index_sequence<k>())))),
     ...);
  }

  Pointers parts_;
};

// What has the loops of F: its accumulation, or F itself.
template <typename F>
struct AccumulationOf {
  using type = F;
};
template <typename F>
requires requires { typename F::Accumulation; }
struct AccumulationOf<F> {
  using type = typename F::Accumulation;
};
template <typename F>
using Accumulation = typename AccumulationOf<F>::type;

// Of an accumulation F.
template <typename F>
struct ReduceLoops {
  using T = typename F::Element;
  using Acc = typename F::Acc;
  using Array = AccArray<Acc>;
  static_assert(std::is_trivially_copyable_v<Acc>);

  static constexpr bool kIndexed = requires { F::kIndexed; };
  static constexpr bool kSelects = requires { F::kSelects; };
  static constexpr bool kOneNumber = Array::kParts == 1 && !kIndexed;

  static const F& functor(const void* f) { return *static_cast<const F*>(f); }

  // Each row into acc[0, width).
  KEYWAY_INLINE static void combine(const F& f, const Array& acc, const Rows& rows) {
    if constexpr (kOneNumber) {
      if (rows.twin != 0) return combine_twins(f, acc, rows);
      if (rows.width == kLanes) return combine_lanes(f, acc, rows);
    }
    Rows rest = rows;
    if constexpr (kOneNumber && !kSelects) combine_eight(f, acc, rest);
    combine_rows(f, acc, rest);
  }

  // Row by row.
  KEYWAY_INLINE static void combine_rows(const F& f, const Array& acc, const Rows& rows) {
    const char* row = rows.data;
    std::int64_t index = rows.index;
    for (std::int64_t r = 0; r < rows.rows; ++r, row += rows.stride, index += rows.row_step) {
      KEYWAY_INDEPENDENT
      for (std::int64_t j = 0; j < rows.width; ++j) {
        acc.set(j, f.combine(acc.get(j), load<T>(row, j), index + j * rows.lane_step));
      }
    }
  }

  // kLanes accumulators, which stay in registers.
  KEYWAY_INLINE static void combine_lanes(const F& f, const Array& acc, const Rows& rows) {
    Acc lanes[kLanes];
    for (std::int64_t j = 0; j < kLanes; ++j) lanes[j] = acc.get(j);
    const char* row = rows.data;
    for (std::int64_t r = 0; r < rows.rows; ++r, row += rows.stride) {
      for (std::int64_t j = 0; j < kLanes; ++j) lanes[j] = f.combine(lanes[j], load<T>(row, j), 0);
    }
    for (std::int64_t j = 0; j < kLanes; ++j) acc.set(j, lanes[j]);
  }

  // Two blocks of rows, in turns.
  KEYWAY_INLINE static void combine_twins(const F& f, const Array& acc, const Rows& rows) {
    Acc first[kLanes], second[kLanes];
    for (std::int64_t j = 0; j < kLanes; ++j) first[j] = acc.get(j);
    for (std::int64_t j = 0; j < kLanes; ++j) second[j] = acc.get(kLanes + j);
    const char* row = rows.data;
    for (std::int64_t r = 0; r < rows.rows; ++r, row += rows.stride) {
      for (std::int64_t j = 0; j < kLanes; ++j) first[j] = f.combine(first[j], load<T>(row, j), 0);
      for (std::int64_t j = 0; j < kLanes; ++j) second[j] = f.combine(second[j], load<T>(row + rows.twin, j), 0);
    }
    for (std::int64_t j = 0; j < kLanes; ++j) acc.set(j, first[j]);
    for (std::int64_t j = 0; j < kLanes; ++j) acc.set(kLanes + j, second[j]);
  }

  // Eight rows at once, one after the other for each accumulator: an eighth of its traffic, the same result.
  // Leaves the rows that are left.
  KEYWAY_INLINE static void combine_eight(const F& f, const Array& acc, Rows& rows) {
    const std::int64_t stride = rows.stride, width = rows.width;
    for (; rows.rows >= 8; rows.rows -= 8, rows.data += 8 * stride) {
      const char* const row = rows.data;
      KEYWAY_INDEPENDENT
      for (std::int64_t j = 0; j < width; ++j) {
        Acc a = f.combine(acc.get(j), load<T>(row, j), 0);
        a = f.combine(a, load<T>(row + stride, j), 0);
        a = f.combine(a, load<T>(row + 2 * stride, j), 0);
        a = f.combine(a, load<T>(row + 3 * stride, j), 0);
        a = f.combine(a, load<T>(row + 4 * stride, j), 0);
        a = f.combine(a, load<T>(row + 5 * stride, j), 0);
        a = f.combine(a, load<T>(row + 6 * stride, j), 0);
        acc.set(j, f.combine(a, load<T>(row + 7 * stride, j), 0));
      }
    }
  }

  KEYWAY_INLINE static void fill(const F& f, const Array& acc, std::int64_t n) {
    const Acc identity = f.identity();
    for (std::int64_t j = 0; j < n; ++j) acc.set(j, identity);
  }

  KEYWAY_INLINE static void merge(const F& f, const Array& acc, const Array& other, std::int64_t n) {
    KEYWAY_INDEPENDENT
    for (std::int64_t j = 0; j < n; ++j) acc.set(j, f.merge(acc.get(j), other.get(j)));
  }

  // n accumulators from `first` on into the first of them, by a tree whose shape depends on n alone.
  KEYWAY_INLINE static void fold(const F& f, const Array& acc, std::int64_t first, std::int64_t n) {
    while (n > 1) {
      std::int64_t half = 1;
      while (half < n - half) half *= 2;
      KEYWAY_INDEPENDENT
      for (std::int64_t j = first; j < first + n - half; ++j) acc.set(j, f.merge(acc.get(j), acc.get(half + j)));
      n = half;
    }
  }

  // Outputs whose elements are few: filled, combined and folded in one go, each into an accumulator.
  KEYWAY_INLINE static void reduce_runs(const F& f, const Runs& runs, const Array& outputs) {
    alignas(64) char lanes[Array::bytes() * kLanes];
    const Array acc(lanes, kLanes);
    const std::int64_t n = runs.length, full = n / kLanes, rest = n % kLanes;
    constexpr std::int64_t kStride = kLanes * static_cast<std::int64_t>(sizeof(T));
    const char* data = runs.data;
    for (std::int64_t o = 0; o < runs.outputs; ++o, data += runs.stride) {
      fill(f, acc, kLanes);
      combine(f, acc, {data, kStride, full, kLanes, 0, kLanes * runs.step, runs.step});
      if (rest != 0) {
        combine_rows(f, acc, {data + full * kStride, 0, 1, rest, full * kLanes * runs.step, 0, runs.step});
      }
      fold_lanes(f, acc);
      outputs.set(o, acc.get(0));
    }
  }
  // fold() of all lanes, of which some may hold the identity.
  KEYWAY_INLINE static void fold_lanes(const F& f, const Array& acc) {
    static_assert(kLanes == 64);
    fold_half<32>(f, acc);
    fold_half<16>(f, acc);
    fold_half<8>(f, acc);
    fold_half<4>(f, acc);
    fold_half<2>(f, acc);
    fold_half<1>(f, acc);
  }
  template <std::int64_t half>
  KEYWAY_INLINE static void fold_half(const F& f, const Array& acc) {
    KEYWAY_INDEPENDENT
    for (std::int64_t j = 0; j < half; ++j) acc.set(j, f.merge(acc.get(j), acc.get(half + j)));
  }
};

// All that the driver needs to know of a functor. `acc` is an array of accumulators of a capacity. `f` is the
// functor's accumulation.
struct ReduceOp {
  using Combine = void (*)(const void* f, char* acc, std::int64_t capacity, const Rows& rows);
  using ReduceRuns = void (*)(const void* f, const Runs& runs, char* acc, std::int64_t capacity);
  LevelTable<Combine> combine;
  LevelTable<ReduceRuns> reduce_runs;
  void (*fill)(const void* f, char* acc, std::int64_t capacity, std::int64_t n);
  void (*merge)(const void* f, char* acc, const char* other, std::int64_t capacity, std::int64_t n);
  // Each of so many groups of n neighbours into one; the results come to stand at the beginning.
  void (*fold)(const void* f, char* acc, std::int64_t capacity, std::int64_t groups, std::int64_t n);
  void (*project)(const void* f, const char* acc, std::int64_t capacity, std::int64_t n, std::int64_t count,
                  const Results& results);
  std::int32_t acc_bytes;
  std::int32_t itemsize;
  ScalarType element;  // of the accumulation
  bool indexed;
  bool twins;              // whether rows may have a twin
  std::int32_t least_run;  // as many neighbours as are worth folding kLanes accumulators for; 0: no number is
};

template <typename F>
struct ReduceAt {
  using Loops = ReduceLoops<F>;
  using Array = typename Loops::Array;

  template <SimdLevel>
  struct Combine {
    KEYWAY_INLINE static void run(const void* f, char* acc, std::int64_t capacity, const Rows& rows) {
      Loops::combine(Loops::functor(f), Array(acc, capacity), rows);
    }
  };
  template <SimdLevel>
  struct ReduceRuns {
    KEYWAY_INLINE static void run(const void* f, const Runs& runs, char* acc, std::int64_t capacity) {
      Loops::reduce_runs(Loops::functor(f), runs, Array(acc, capacity));
    }
  };

  static void fill(const void* f, char* acc, std::int64_t capacity, std::int64_t n) {
    Loops::fill(Loops::functor(f), Array(acc, capacity), n);
  }
  static void merge(const void* f, char* acc, const char* other, std::int64_t capacity, std::int64_t n) {
    Loops::merge(Loops::functor(f), Array(acc, capacity), Array(const_cast<char*>(other), capacity), n);
  }
  static void fold(const void* f, char* acc, std::int64_t capacity, std::int64_t groups, std::int64_t n) {
    const Array array(acc, capacity);
    for (std::int64_t g = 0; g < groups; ++g) {
      Loops::fold(Loops::functor(f), array, g * n, n);
      array.set(g, array.get(g * n));
    }
  }
};

// Writes result(j) for each of n outputs. Those that lie side by side are vector code.
template <typename F>
void write_results(const Results& to, std::int64_t n, const F& result) {
  using R = decltype(result(0));
  if constexpr (requires(R r) { r.second; }) {
    for (std::int64_t j = 0; j < n; ++j) {
      const R r = result(j);
      store<decltype(R::first)>(to.data[0] + j * to.stride[0], 0, r.first);
      store<decltype(R::second)>(to.data[1] + j * to.stride[1], 0, r.second);
    }
  } else if (to.stride[0] == sizeof(R)) {
    KEYWAY_INDEPENDENT
    for (std::int64_t j = 0; j < n; ++j) store<R>(to.data[0], j, result(j));
  } else {
    for (std::int64_t j = 0; j < n; ++j) store<R>(to.data[0] + j * to.stride[0], 0, result(j));
  }
}

template <typename F>
void project_results(const void* f, const char* acc, std::int64_t capacity, std::int64_t n, std::int64_t count,
                     const Results& to) {
  const F g = static_cast<const F&>(*static_cast<const Accumulation<F>*>(f));
  const AccArray<typename F::Acc> array(const_cast<char*>(acc), capacity);
  write_results(to, n, [&](std::int64_t j) { return g.project(array.get(j), count); });
}

// What selects compares twice for each element, and in a fold more than it adds.
template <typename A>
constexpr std::int32_t least_run() {
  constexpr int kRows = ReduceLoops<A>::kSelects ? 8 : 2;
  return ReduceLoops<A>::kOneNumber ? kRows * static_cast<std::int32_t>(kLanes) : 0;
}

template <typename F, typename A = Accumulation<F>>
inline constexpr ReduceOp kReduceOp = {at_levels<ReduceAt<A>::template Combine>(),
                                       at_levels<ReduceAt<A>::template ReduceRuns>(),
                                       ReduceAt<A>::fill,
                                       ReduceAt<A>::merge,
                                       ReduceAt<A>::fold,
                                       project_results<F>,
                                       ReduceLoops<A>::Array::bytes(),
                                       sizeof(typename A::Element),
                                       cpp_type_to_scalar_type<typename A::Element>,
                                       ReduceLoops<A>::kIndexed,
                                       ReduceLoops<A>::kOneNumber && sizeof(typename A::Acc) <= 4,
                                       least_run<A>()};

}  // namespace keyway::inline v1::detail
