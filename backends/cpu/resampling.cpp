// Sums of elements at given indices of a dimension, times weights, and their gradients: what images on other grids are
// made of.
//
// A table [N, C, S, I] and rows [N, C, P, I] are tied by indices and weights [N, 1, K, P]: rows gather from the table,
// or are scattered to it. Where single elements are gathered, blocks of channels are transposed first,
// if that stays in the cache: then an index is looked up once for a vector of them.
#include <keyway/backends/cpu/copy_tile.h>
#include <keyway/backends/cpu/index_list.h>
#include <keyway/backends/cpu/kernels_resampling.h>
#include <keyway/backends/cpu/lanes.h>
#include <keyway/backends/cpu/operands.h>
#include <keyway/backends/cpu/parallel.h>
#include <keyway/backends/cpu/scratch.h>
#include <keyway/backends/cpu/simd/level.h>
#include <keyway/core/dtype/visit_dtype.h>

#include <algorithm>

namespace keyway::inline v1 {

namespace {

constexpr DtypeSet kTables = DtypeSet{kDouble} | DtypeSet{kFloat} | DtypeSet{kInt};
constexpr DtypeSet kGradients = DtypeSet{kDouble} | DtypeSet{kFloat};

// Channels that are transposed at a time, and up to how many bytes of them.
constexpr std::int64_t kTransposed = 16, kTransposedBytes = std::int64_t{1} << 19;

template <typename T, bool gathers>
struct Exchange {
  T* table;
  T* rows;
  const std::int64_t* indices;
  const T* weights;
  std::int64_t channels, size, taps, count, inner;
  bool transposes;
  T* scratch = nullptr;  // (size + count) * kTransposed, if it transposes
  std::int64_t begin = 0, end = 0;

  std::int64_t blocks() const { return transposes ? (channels + kTransposed - 1) / kTransposed : channels; }

  // Elements [i, i + n) of row p.
  template <int n>
  KEYWAY_INLINE void exchange(T* to_table, T* row, const std::int64_t* index, const T* weight, std::int64_t step,
                              std::int64_t i) const {
    T values[n];
    for (int j = 0; j < n; ++j) values[j] = gathers ? T(0) : row[i + j];
    for (std::int64_t k = 0; k < taps; ++k) {
      if (index[k * count] < 0) continue;
      T* const at = to_table + index[k * count] * step + i;
      const T w = weight[k * count];
      for (int j = 0; j < n; ++j) {
        if constexpr (gathers) {
          values[j] += at[j] * w;
        } else {
          at[j] += values[j] * w;
        }
      }
    }
    for (int j = 0; gathers && j < n; ++j) row[i + j] = values[j];
  }

  // All rows of one block, whose elements are `step` neighbours.
  KEYWAY_INLINE void rows_of(std::int64_t image, T* to_table, T* from_rows, std::int64_t step) const {
    if constexpr (!gathers) std::fill_n(to_table, size * step, T(0));
    const std::int64_t first = image * taps * count;
    for (std::int64_t p = 0; p < count; ++p) {
      const std::int64_t* const index = indices + first + p;
      const T* const weight = weights + first + p;
      T* const row = from_rows + p * step;
      std::int64_t i = 0;
      for (; i + 16 <= step; i += 16) exchange<16>(to_table, row, index, weight, step, i);
      for (; i + 4 <= step; i += 4) exchange<4>(to_table, row, index, weight, step, i);
      for (; i < step; ++i) exchange<1>(to_table, row, index, weight, step, i);
    }
  }

  static void transpose(T* transposed, const T* lines, std::int64_t channels, std::int64_t length) {
    constexpr auto kItem = static_cast<std::int64_t>(sizeof(T));
    if (channels < kTransposed) std::fill_n(transposed, length * kTransposed, T(0));
    copy_tile({reinterpret_cast<char*>(transposed), kTransposed * kItem, kItem},
              {reinterpret_cast<const char*>(lines), kItem, length * kItem}, length, channels, kItem);
  }
  static void transpose_back(T* lines, const T* transposed, std::int64_t channels, std::int64_t length) {
    constexpr auto kItem = static_cast<std::int64_t>(sizeof(T));
    copy_tile({reinterpret_cast<char*>(lines), length * kItem, kItem},
              {reinterpret_cast<const char*>(transposed), kItem, kTransposed * kItem}, channels, length, kItem);
  }

  KEYWAY_INLINE void block(std::int64_t b) const {
    const std::int64_t image = b / blocks(), first = b % blocks() * (transposes ? kTransposed : 1);
    T* const own_table = table + (image * channels + first) * size * inner;
    T* const own_rows = rows + (image * channels + first) * count * inner;
    if (!transposes) return rows_of(image, own_table, own_rows, inner);
    const std::int64_t n = std::min(kTransposed, channels - first);
    T* const transposed_table = scratch;
    T* const transposed_rows = scratch + size * kTransposed;
    if constexpr (gathers) {
      transpose(transposed_table, own_table, n, size);
    } else {
      transpose(transposed_rows, own_rows, n, count);
    }
    rows_of(image, transposed_table, transposed_rows, kTransposed);
    if constexpr (gathers) {
      transpose_back(own_rows, transposed_rows, n, count);
    } else {
      transpose_back(own_table, transposed_table, n, size);
    }
  }

  template <SimdLevel level>
  struct At {
    KEYWAY_INLINE static void run(const Exchange* part) {
      for (std::int64_t b = part->begin; b < part->end; ++b) part->block(b);
    }
  };
  static constexpr auto kRun = at_levels_to_avx2<At>();

  void run(std::int64_t images) const {
    const std::int64_t work = std::max<std::int64_t>(1, (size + count * taps) * inner * (transposes ? kTransposed : 1));
    parallel_for(0, images * blocks(), std::max<std::int64_t>(1, kElementGrain / work),
                 [&](std::int64_t first, std::int64_t last) {
                   const ScratchArray<T> memory(transposes ? (size + count) * kTransposed : 0);
                   Exchange part = *this;
                   part.scratch = memory.data();
                   part.begin = first;
                   part.end = last;
                   kRun[current_level()](&part);
                 });
  }
};

// `table` or `rows` is the result.
template <bool gathers>
void exchange(const char* op, const TensorBase& table, const TensorBase& rows, const TensorBase& indices,
              const TensorBase& weights) {
  const TensorBase listed = contiguous(indices), weight_list = contiguous(weights);
  const IntArrayRef sizes = table.sizes();
  check_indices(listed, "indices", -1, sizes[2]);
  if (rows.numel() == 0 && gathers) return;
  visit_dtype<gathers ? kTables : kGradients>(table.dtype(), op, [&]<typename T>() {
    Exchange<T, gathers> of{static_cast<T*>(table.data_ptr()),
                            static_cast<T*>(rows.data_ptr()),
                            static_cast<const std::int64_t*>(listed.data_ptr()),
                            static_cast<const T*>(weight_list.data_ptr()),
                            sizes[1],
                            sizes[2],
                            indices.sizes()[2],
                            indices.sizes()[3],
                            sizes[3],
                            false};
    const auto transposed = static_cast<double>(of.size + of.count) * static_cast<double>(kTransposed * sizeof(T));
    of.transposes = of.inner == 1 && of.channels > 1 && transposed <= static_cast<double>(kTransposedBytes) &&
                    of.size / 4 <= of.count * of.taps;
    of.run(sizes[0]);
  });
}

// Indices whose products are added up side by side.
constexpr std::int64_t kSums = 64;

template <typename T>
struct Products {
  const T* rows;
  const T* table;
  const std::int64_t* indices;
  T* out;
  std::int64_t channels, size, taps, count, inner;

  std::int64_t blocks() const { return (count + kSums - 1) / kSums; }

  // Of indices [first, first + n) of an image, for one tap.
  void sums(std::int64_t image, std::int64_t first, std::int64_t n, const std::int64_t* index, T* sum) const {
    std::fill_n(sum, n, T(0));
    for (std::int64_t c = image * channels; c < (image + 1) * channels; ++c) {
      const T* const row = rows + (c * count + first) * inner;
      const T* const from = table + c * size * inner;
      for (std::int64_t p = 0; p < n; ++p) {
        if (index[p] < 0) continue;
        const T* const at = from + index[p] * inner;
        if (inner == 1) {
          sum[p] += row[p] * at[0];
        } else {
          sum[p] += lane_sum<T>(inner, [&](std::int64_t i) { return row[p * inner + i] * at[i]; });
        }
      }
    }
  }

  void block(std::int64_t b) const {
    const std::int64_t image = b / blocks(), first = b % blocks() * kSums;
    for (std::int64_t k = 0; k < taps; ++k) {
      const std::int64_t at = (image * taps + k) * count + first;
      sums(image, first, std::min(kSums, count - first), indices + at, out + at);
    }
  }

  void run(std::int64_t images) const {
    const std::int64_t work = std::max<std::int64_t>(1, channels * inner * taps * std::min(kSums, count));
    parallel_for(0, images * blocks(), std::max<std::int64_t>(1, kElementGrain / work),
                 [&](std::int64_t first, std::int64_t last) {
                   for (std::int64_t b = first; b < last; ++b) block(b);
                 });
  }
};

}  // namespace

namespace cpu {

void _gather_weighted(const TensorBase& self, const TensorBase& indices, const TensorBase& weights, TensorBase& out) {
  const ContiguousOut rows(out);
  exchange<true>("_gather_weighted", contiguous(self), rows.tensor(), indices, weights);
  rows.finish();
}

void _scatter_weighted(const TensorBase& self, const TensorBase& indices, const TensorBase& weights, std::int64_t,
                       TensorBase& out) {
  const ContiguousOut table(out);
  exchange<false>("_scatter_weighted", table.tensor(), contiguous(self), indices, weights);
  table.finish();
}

void _gather_products(const TensorBase& self, const TensorBase& other, const TensorBase& indices, TensorBase& out) {
  const TensorBase rows = contiguous(self), table = contiguous(other), listed = contiguous(indices);
  const IntArrayRef sizes = table.sizes();
  check_indices(listed, "indices", -1, sizes[2]);
  if (out.numel() == 0) return;
  const ContiguousOut sums(out);
  visit_dtype<kGradients>(rows.dtype(), "_gather_products", [&]<typename T>() {
    const Products<T> of{static_cast<const T*>(rows.data_ptr()),
                         static_cast<const T*>(table.data_ptr()),
                         static_cast<const std::int64_t*>(listed.data_ptr()),
                         sums.data<T>(),
                         sizes[1],
                         sizes[2],
                         indices.sizes()[2],
                         indices.sizes()[3],
                         sizes[3]};
    of.run(sizes[0]);
  });
  sums.finish();
}

}  // namespace cpu

}  // namespace keyway::inline v1
