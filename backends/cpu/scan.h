// scan: the driver of cumulative operators, which give along one dimension the reduction of all elements up
// to each.
//
//   scan(Cumsum<float>{}, out, self, dim);
//   scan(Cummax<float>{}, values, indices, self, dim);
//
// A line is scanned by one thread, one element after another; lines that lie side by side are scanned
// together, which the compiler vectorises. Results do not depend on threads or instruction set.
#pragma once

#include <keyway/backends/cpu/level.h>
#include <keyway/backends/cpu/loop.h>
#include <keyway/core/tensor_base.h>
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

// With `unit_stride` the lines are adjacent, and a constant says so.
template <typename F, bool unit_stride>
KEYWAY_INLINE void scan_each(const F& functor, Lines l, typename F::Acc* acc) {
  using T = typename F::Element;
  if constexpr (unit_stride) l.next[0] = l.next[1] = sizeof(T);
  for (std::int64_t i = 0; i < l.length; ++i) {
    const char* const row = l.data[0] + i * l.step[0];
    KEYWAY_INDEPENDENT
    for (std::int64_t j = 0; j < l.lines; ++j) {
      acc[j] = functor.combine(acc[j], load<T>(row + j * l.next[0], 0), i);
      write_results(l, i, j, functor.project(acc[j], i + 1));
    }
  }
}

template <typename F>
KEYWAY_INLINE void scan_lines(const void* f, const Lines& l, char* acc_bytes) {
  using T = typename F::Element;
  using R = decltype(std::declval<const F&>().project(std::declval<typename F::Acc>(), 0));
  const F functor = *static_cast<const F*>(f);
  auto* const acc = reinterpret_cast<typename F::Acc*>(acc_bytes);
  for (std::int64_t j = 0; j < l.lines; ++j) acc[j] = functor.identity();
  if constexpr (std::is_same_v<R, T>) {
    if (l.next[0] == sizeof(T) && l.next[1] == sizeof(T)) return scan_each<F, true>(functor, l, acc);
  }
  scan_each<F, false>(functor, l, acc);
}

template <typename F>
KEYWAY_TARGET_BASELINE void scan_baseline(const void* f, const Lines& lines, char* acc) {
  scan_lines<F>(f, lines, acc);
}
template <typename F>
KEYWAY_TARGET_AVX2 void scan_avx2(const void* f, const Lines& lines, char* acc) {
  scan_lines<F>(f, lines, acc);
}
template <typename F>
KEYWAY_TARGET_AVX512 void scan_avx512(const void* f, const Lines& lines, char* acc) {
  scan_lines<F>(f, lines, acc);
}

template <typename F>
inline constexpr ScanOp kScanOp = {
#if defined(__x86_64__)
    {scan_baseline<F>, scan_avx2<F>, scan_avx512<F>},
#else
    {scan_baseline<F>, scan_baseline<F>, scan_baseline<F>},
#endif
    sizeof(typename F::Acc)};

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
