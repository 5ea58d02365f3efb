// Sums of elements at given places of a dimension, times weights, and their gradients: what images on other grids are
// made of.
//
// A table [N, C, S, I] and rows [N, C, P, I] are tied by places and weights [N, 1, K, P]: rows gather from the table,
// or are scattered to it. Where single elements are gathered, blocks of channels are turned to lie side by side first,
// if that stays in the cache: then a place is looked up once for a vector of them.
#include <keyway/backends/cpu/contiguous.h>
#include <keyway/backends/cpu/copy_tile.h>
#include <keyway/backends/cpu/index_list.h>
#include <keyway/backends/cpu/kernels_resampling.h>
#include <keyway/backends/cpu/lanes.h>
#include <keyway/backends/cpu/parallel.h>
#include <keyway/backends/cpu/scratch.h>
#include <keyway/backends/cpu/simd/level.h>
#include <keyway/core/dtype/visit_dtype.h>

#include <algorithm>

namespace keyway::inline v1 {

namespace {

constexpr DtypeSet kTables = DtypeSet{kDouble} | DtypeSet{kFloat} | DtypeSet{kInt};
constexpr DtypeSet kGradients = DtypeSet{kDouble} | DtypeSet{kFloat};

// Channels that are turned at a time, and up to how many bytes of them.
constexpr std::int64_t kTurned = 16, kTurnedBytes = std::int64_t{1} << 19;

template <typename T, bool gathers>
struct Exchange {
  T* table;
  T* rows;
  const std::int64_t* places;
  const T* weights;
  std::int64_t channels, size, taps, count, inner;
  bool turns;
  T* scratch = nullptr;  // (size + count) * kTurned, if it turns
  std::int64_t begin = 0, end = 0;

  std::int64_t blocks() const { return turns ? (channels + kTurned - 1) / kTurned : channels; }

  // Elements [i, i + n) of row p.
  template <int n>
  KEYWAY_INLINE void exchange(T* to_table, T* row, const std::int64_t* place, const T* weight, std::int64_t step,
                              std::int64_t i) const {
    T values[n];
    for (int j = 0; j < n; ++j) values[j] = gathers ? T(0) : row[i + j];
    for (std::int64_t k = 0; k < taps; ++k) {
      if (place[k * count] < 0) continue;
      T* const at = to_table + place[k * count] * step + i;
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
      const std::int64_t* const place = places + first + p;
      const T* const weight = weights + first + p;
      T* const row = from_rows + p * step;
      std::int64_t i = 0;
      for (; i + 16 <= step; i += 16) exchange<16>(to_table, row, place, weight, step, i);
      for (; i + 4 <= step; i += 4) exchange<4>(to_table, row, place, weight, step, i);
      for (; i < step; ++i) exchange<1>(to_table, row, place, weight, step, i);
    }
  }

  static void turn(T* turned, const T* lines, std::int64_t channels, std::int64_t length) {
    constexpr auto kItem = static_cast<std::int64_t>(sizeof(T));
    if (channels < kTurned) std::fill_n(turned, length * kTurned, T(0));
    copy_tile({reinterpret_cast<char*>(turned), kTurned * kItem, kItem},
              {reinterpret_cast<const char*>(lines), kItem, length * kItem}, length, channels, kItem);
  }
  static void turn_back(T* lines, const T* turned, std::int64_t channels, std::int64_t length) {
    constexpr auto kItem = static_cast<std::int64_t>(sizeof(T));
    copy_tile({reinterpret_cast<char*>(lines), length * kItem, kItem},
              {reinterpret_cast<const char*>(turned), kItem, kTurned * kItem}, channels, length, kItem);
  }

  KEYWAY_INLINE void block(std::int64_t b) const {
    const std::int64_t image = b / blocks(), first = b % blocks() * (turns ? kTurned : 1);
    T* const own_table = table + (image * channels + first) * size * inner;
    T* const own_rows = rows + (image * channels + first) * count * inner;
    if (!turns) return rows_of(image, own_table, own_rows, inner);
    const std::int64_t n = std::min(kTurned, channels - first);
    T* const turned_table = scratch;
    T* const turned_rows = scratch + size * kTurned;
    if constexpr (gathers) {
      turn(turned_table, own_table, n, size);
    } else {
      turn(turned_rows, own_rows, n, count);
    }
    rows_of(image, turned_table, turned_rows, kTurned);
    if constexpr (gathers) {
      turn_back(own_rows, turned_rows, n, count);
    } else {
      turn_back(own_table, turned_table, n, size);
    }
  }

  template <Level level>
  struct At {
    KEYWAY_INLINE static void run(const Exchange* part) {
      for (std::int64_t b = part->begin; b < part->end; ++b) part->block(b);
    }
  };
  static constexpr auto kRun = at_levels_to_avx2<At>();

  void run(std::int64_t images) const {
    const std::int64_t work = std::max<std::int64_t>(1, (size + count * taps) * inner * (turns ? kTurned : 1));
    parallel_for(0, images * blocks(), std::max<std::int64_t>(1, kElementGrain / work),
                 [&](std::int64_t first, std::int64_t last) {
                   const ScratchArray<T> memory(turns ? (size + count) * kTurned : 0);
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
void exchange(const char* op, const TensorBase& table, const TensorBase& rows, const TensorBase& places,
              const TensorBase& weights) {
  const TensorBase place_list = contiguous(places), weight_list = contiguous(weights);
  const IntArrayRef sizes = table.sizes();
  check_indices(place_list, "places", -1, sizes[2]);
  if (rows.numel() == 0 && gathers) return;
  visit_dtype<gathers ? kTables : kGradients>(table.dtype(), op, [&]<typename T>() {
    Exchange<T, gathers> of{static_cast<T*>(table.data_ptr()),
                            static_cast<T*>(rows.data_ptr()),
                            static_cast<const std::int64_t*>(place_list.data_ptr()),
                            static_cast<const T*>(weight_list.data_ptr()),
                            sizes[1],
                            sizes[2],
                            places.sizes()[2],
                            places.sizes()[3],
                            sizes[3],
                            false};
    const auto turned = static_cast<double>(of.size + of.count) * static_cast<double>(kTurned * sizeof(T));
    of.turns = of.inner == 1 && of.channels > 1 && turned <= static_cast<double>(kTurnedBytes) &&
               of.size / 4 <= of.count * of.taps;
    of.run(sizes[0]);
  });
}

// Places whose products are added up side by side.
constexpr std::int64_t kSums = 64;

template <typename T>
struct Products {
  const T* rows;
  const T* table;
  const std::int64_t* places;
  T* out;
  std::int64_t channels, size, taps, count, inner;

  std::int64_t blocks() const { return (count + kSums - 1) / kSums; }

  // Of places [first, first + n) of an image, for one tap.
  void sums(std::int64_t image, std::int64_t first, std::int64_t n, const std::int64_t* place, T* sum) const {
    std::fill_n(sum, n, T(0));
    for (std::int64_t c = image * channels; c < (image + 1) * channels; ++c) {
      const T* const row = rows + (c * count + first) * inner;
      const T* const from = table + c * size * inner;
      for (std::int64_t p = 0; p < n; ++p) {
        if (place[p] < 0) continue;
        const T* const at = from + place[p] * inner;
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
      sums(image, first, std::min(kSums, count - first), places + at, out + at);
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

void _gather_weighed(const TensorBase& self, const TensorBase& places, const TensorBase& weights, TensorBase& out) {
  const ContiguousOut rows(out);
  exchange<true>("_gather_weighed", contiguous(self), rows.tensor(), places, weights);
  rows.finish();
}

void _scatter_weighed(const TensorBase& self, const TensorBase& places, const TensorBase& weights, std::int64_t,
                      TensorBase& out) {
  const ContiguousOut table(out);
  exchange<false>("_scatter_weighed", table.tensor(), contiguous(self), places, weights);
  table.finish();
}

void _gather_products(const TensorBase& self, const TensorBase& other, const TensorBase& places, TensorBase& out) {
  const TensorBase rows = contiguous(self), table = contiguous(other), place_list = contiguous(places);
  const IntArrayRef sizes = table.sizes();
  check_indices(place_list, "places", -1, sizes[2]);
  if (out.numel() == 0) return;
  const ContiguousOut sums(out);
  visit_dtype<kGradients>(rows.dtype(), "_gather_products", [&]<typename T>() {
    const Products<T> of{static_cast<const T*>(rows.data_ptr()),
                         static_cast<const T*>(table.data_ptr()),
                         static_cast<const std::int64_t*>(place_list.data_ptr()),
                         sums.data<T>(),
                         sizes[1],
                         sizes[2],
                         places.sizes()[2],
                         places.sizes()[3],
                         sizes[3]};
    of.run(sizes[0]);
  });
  sums.finish();
}

}  // namespace cpu

}  // namespace keyway::inline v1
