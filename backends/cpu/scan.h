// scan: the driver of cumulative operators, which give along one dimension the reduction of all elements up
// to each.
//
//   scan(Cumsum<float>{}, out, self, dim);
//   scan(Cummax<float>{}, values, indices, self, dim);
//
// A line is scanned by one thread, one element after another; lines that lie side by side are scanned
// together, which the compiler vectorises. Results do not depend on threads or instruction set.
#pragma once

#include <keyway/backends/cpu/loop.h>
#include <keyway/backends/cpu/simd/level.h>
#include <keyway/core/tensor/tensor_base.h>
#include <keyway/ops/functors/scan.h>

#include <cstdint>

namespace keyway::inline v1 {

namespace detail {

// `lines` lines of `length` elements: element i of line j is at data[0] + i * step[0] + j * next[0], in
// bytes, and so are its results in data[1] and data[2].
struct Lines {
  char* data[3];
  std::int64_t step[3];
  std::int64_t next[3];
  std::int64_t length;
  std::int64_t lines;
};

struct ScanOp {
  using Run = void (*)(const void* functor, const Lines& lines, char* acc);
  LevelTable<Run> run;  // acc has room for the accumulators of the lines
  std::int32_t acc_bytes;
};

template <typename R>
KEYWAY_INLINE void write_results(const Lines& l, std::int64_t i, std::int64_t j, R result) {
  store<R>(l.data[1] + i * l.step[1] + j * l.next[1], 0, result);
}
template <typename A, typename B>
KEYWAY_INLINE void write_results(const Lines& l, std::int64_t i, std::int64_t j, Two<A, B> result) {
  store<A>(l.data[1] + i * l.step[1] + j * l.next[1], 0, result.first);
  store<B>(l.data[2] + i * l.step[2] + j * l.next[2], 0, result.second);
}

// Lines that are adjacent: a row of accumulators goes along all of them.
template <typename F>
KEYWAY_INLINE void scan_adjacent(const F& functor, const Lines& l, typename F::Acc* acc) {
  using T = typename F::Element;
  for (std::int64_t j = 0; j < l.lines; ++j) acc[j] = functor.identity();
  for (std::int64_t i = 0; i < l.length; ++i) {
    const char* const from = l.data[0] + i * l.step[0];
    char* const to = l.data[1] + i * l.step[1];
    KEYWAY_INDEPENDENT
    for (std::int64_t j = 0; j < l.lines; ++j) {
      acc[j] = functor.combine(acc[j], load<T>(from, j), i);
      store<T>(to, j, functor.project(acc[j], i + 1));
    }
  }
}

// `count` lines from line j on, at once: each step waits for the one before, so that one line alone would be slow.
template <int count, typename F>
KEYWAY_INLINE void scan_some(const F& functor, const Lines& l, std::int64_t j) {
  using T = typename F::Element;
  typename F::Acc acc[count];
  for (int k = 0; k < count; ++k) acc[k] = functor.identity();
  for (std::int64_t i = 0; i < l.length; ++i) {
    for (int k = 0; k < count; ++k) {
      acc[k] = functor.combine(acc[k], load<T>(l.data[0] + i * l.step[0] + (j + k) * l.next[0], 0), i);
      write_results(l, i, j + k, functor.project(acc[k], i + 1));
    }
  }
}

template <typename F>
struct ScanLines {
  template <SimdLevel>
  struct At {
    KEYWAY_INLINE static void run(const void* f, const Lines& l, char* acc) {
      using T = typename F::Element;
      using R = decltype(std::declval<const F&>().project(std::declval<typename F::Acc>(), 0));
      const F functor = *static_cast<const F*>(f);
      if constexpr (std::is_same_v<R, T>) {
        if (l.next[0] == sizeof(T) && l.next[1] == sizeof(T)) {
          return scan_adjacent(functor, l, reinterpret_cast<typename F::Acc*>(acc));
        }
      }
      std::int64_t j = 0;
      for (; j + 4 <= l.lines; j += 4) scan_some<4>(functor, l, j);
      for (; j < l.lines; ++j) scan_some<1>(functor, l, j);
    }
  };
};

template <typename F>
inline constexpr ScanOp kScanOp = {at_levels<ScanLines<F>::template At>(), sizeof(typename F::Acc)};

// `second` may be null.
void run_scan(const ScanOp& op, const void* functor, const TensorBase& out, const TensorBase* second,
              const TensorBase& self, std::int64_t dim);

}  // namespace detail

// Requires: sizes are equal; `dim` is in [0, self.dim()), or 0 for a tensor without dimensions; dtypes are
// the functor's; out shares no memory with self, or lies exactly on it.
template <typename F>
void scan(const F& functor, const TensorBase& out, const TensorBase& self, std::int64_t dim) {
  detail::run_scan(detail::kScanOp<F>, &functor, out, nullptr, self, dim);
}
// With two results.
template <typename F>
void scan(const F& functor, const TensorBase& first, const TensorBase& second, const TensorBase& self,
          std::int64_t dim) {
  detail::run_scan(detail::kScanOp<F>, &functor, first, &second, self, dim);
}

}  // namespace keyway::inline v1
