// reduce: the driver of every reduction, over any set of dimensions.
//
//   reduce(Sum<float>{}, out, self, dims);
//   reduce(MaxWithIndex<float>{}, values, indices, self, {1});
//
// Order and error. Elements are accumulated in 64 lanes; a lane takes at most 64 elements one after another,
// then lanes of such blocks are merged pairwise, blocks with blocks and at last lane with lane. So a sum of n
// floats differs from the exact one by at most about (64 + log2(n)) eps times the sum of magnitudes, and
// usually by a few eps. Where several outputs lie side by side in memory each is a lane of its own, with the
// same bound. The order depends on shape and strides only: results are the same to the last bit whatever the
// number of threads, and on every instruction set.
//
// Functors are described in ops/functors/reduction.h. What a functor costs is one loop per level, which
// combines rows of elements into a row of accumulators.
#pragma once

#include <keyway/backends/cpu/level.h>
#include <keyway/backends/cpu/loop.h>
#include <keyway/core/tensor_base.h>
#include <keyway/ops/functors/reduction.h>

#include <cstdint>
#include <type_traits>

namespace keyway::inline v1 {

namespace detail {

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
};

// Where results go: `stride` bytes apart.
struct Results {
  char* data[2];
  std::int64_t stride[2];
};

// All that the driver needs to know of a functor. `acc` is an array of accumulators.
struct ReduceOp {
  using Combine = void (*)(const void* functor, char* acc, const Rows& rows);
  LevelTable<Combine> combine;                                   // each row into acc[0, width)
  void (*fill)(const void* functor, char* acc, std::int64_t n);  // with the identity
  void (*merge)(const void* functor, char* acc, const char* other, std::int64_t n);  // each with its like
  void (*fold)(const void* functor, char* acc, std::int64_t n);  // all of them into acc[0]
  void (*project)(const void* functor, const char* acc, std::int64_t n, std::int64_t count,
                  const Results& results);
  std::int32_t acc_bytes;
  std::int32_t itemsize;
  bool indexed;
};

template <typename F>
KEYWAY_INLINE void combine_rows(const void* f, char* acc_bytes, const Rows& rows) {
  using T = typename F::Element;
  using Acc = typename F::Acc;
  const F functor = *static_cast<const F*>(f);
  Acc* const acc = reinterpret_cast<Acc*>(acc_bytes);
  const char* row = rows.data;
  const std::int64_t stride = rows.stride, width = rows.width, step = rows.row_step,
                     lane_step = rows.lane_step;
  std::int64_t index = rows.index, r = 0;
  // Four rows at once, one after the other for each lane: a quarter of the traffic of accumulators, the same
  // result.
  for (; r + 4 <= rows.rows; r += 4, row += 4 * stride, index += 4 * step) {
    KEYWAY_INDEPENDENT
    for (std::int64_t j = 0; j < width; ++j) {
      const std::int64_t i = index + j * lane_step;
      Acc a = functor.combine(acc[j], load<T>(row, j), i);
      a = functor.combine(a, load<T>(row + stride, j), i + step);
      a = functor.combine(a, load<T>(row + 2 * stride, j), i + 2 * step);
      acc[j] = functor.combine(a, load<T>(row + 3 * stride, j), i + 3 * step);
    }
  }
  for (; r < rows.rows; ++r, row += stride, index += step) {
    KEYWAY_INDEPENDENT
    for (std::int64_t j = 0; j < width; ++j) {
      acc[j] = functor.combine(acc[j], load<T>(row, j), index + j * lane_step);
    }
  }
}

template <typename F>
KEYWAY_TARGET_BASELINE void combine_baseline(const void* f, char* acc, const Rows& rows) {
  combine_rows<F>(f, acc, rows);
}
template <typename F>
KEYWAY_TARGET_AVX2 void combine_avx2(const void* f, char* acc, const Rows& rows) {
  combine_rows<F>(f, acc, rows);
}
template <typename F>
KEYWAY_TARGET_AVX512 void combine_avx512(const void* f, char* acc, const Rows& rows) {
  combine_rows<F>(f, acc, rows);
}

template <typename F>
struct ReduceFunctions {
  using Acc = typename F::Acc;
  static_assert(std::is_trivially_copyable_v<Acc>);

  static const F& functor(const void* f) { return *static_cast<const F*>(f); }
  static Acc* array(char* acc) { return reinterpret_cast<Acc*>(acc); }
  static const Acc* array(const char* acc) { return reinterpret_cast<const Acc*>(acc); }

  static void fill(const void* f, char* acc, std::int64_t n) {
    const Acc identity = functor(f).identity();
    for (std::int64_t j = 0; j < n; ++j) array(acc)[j] = identity;
  }
  static void merge(const void* f, char* acc, const char* other, std::int64_t n) {
    const F g = functor(f);
    for (std::int64_t j = 0; j < n; ++j) array(acc)[j] = g.merge(array(acc)[j], array(other)[j]);
  }
  // A tree: its shape depends on n alone.
  static void fold(const void* f, char* acc, std::int64_t n) {
    const F g = functor(f);
    Acc* const a = array(acc);
    while (n > 1) {
      std::int64_t half = 1;
      while (half < n - half) half *= 2;
      for (std::int64_t j = 0; j < n - half; ++j) a[j] = g.merge(a[j], a[half + j]);
      n = half;
    }
  }
  static void project(const void* f, const char* acc, std::int64_t n, std::int64_t count, const Results& to) {
    const F g = functor(f);
    for (std::int64_t j = 0; j < n; ++j) {
      write(to, j, g.project(array(acc)[j], count));
    }
  }

 private:
  template <typename R>
  static void write(const Results& to, std::int64_t j, R result) {
    store<R>(to.data[0] + j * to.stride[0], 0, result);
  }
  template <typename A, typename B>
  static void write(const Results& to, std::int64_t j, Two<A, B> result) {
    store<A>(to.data[0] + j * to.stride[0], 0, result.first);
    store<B>(to.data[1] + j * to.stride[1], 0, result.second);
  }
};

template <typename F>
concept IndexedReduction = F::kIndexed;

template <typename F>
inline constexpr ReduceOp kReduceOp = {
#if defined(__x86_64__)
    {combine_baseline<F>, combine_avx2<F>, combine_avx512<F>},
#else
    {combine_baseline<F>, combine_baseline<F>, combine_baseline<F>},
#endif
    &ReduceFunctions<F>::fill,
    &ReduceFunctions<F>::merge,
    &ReduceFunctions<F>::fold,
    &ReduceFunctions<F>::project,
    sizeof(typename F::Acc),
    sizeof(typename F::Element),
    IndexedReduction<F>};

// `second` may be null.
void run_reduce(const ReduceOp& op, const void* functor, const TensorBase& out, const TensorBase* second,
                const TensorBase& self, IntArrayRef dims);

}  // namespace detail

// Reduces `self` over `dims`, all dimensions if the list is empty. `out` has self's sizes with 1 for each of
// them, or without them. Requires: dims are distinct and in [0, self.dim()), or 0 for a tensor without
// dimensions; dtypes are the functor's; out shares no memory with self.
template <typename F>
void reduce(const F& functor, const TensorBase& out, const TensorBase& self, IntArrayRef dims) {
  detail::run_reduce(detail::kReduceOp<F>, &functor, out, nullptr, self, dims);
}
// With two results, of one geometry of sizes.
template <typename F>
void reduce(const F& functor, const TensorBase& first, const TensorBase& second, const TensorBase& self,
            IntArrayRef dims) {
  detail::run_reduce(detail::kReduceOp<F>, &functor, first, &second, self, dims);
}

}  // namespace keyway::inline v1
