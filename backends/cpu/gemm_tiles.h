// Tiles: the innermost loops of matrix products. A tile is a few rows of the result, one or two vectors wide, that
// stays in registers while the loop runs over k. Beside them, what packs operands.
#pragma once

#include <keyway/backends/cpu/simd/level.h>

#include <cstdint>

namespace keyway::inline v1::detail {

// sums[r * sums_row + x] += sum over p of a[r * a_row + p * a_step] * b[p * b_step + x]; with `fresh` = and not +=.
// What lies `ahead` of b's elements is fetched into the caches.
template <typename T>
using Tile = void (*)(std::int64_t k, const T* a, std::int64_t a_row, std::int64_t a_step, const T* b,
                      std::int64_t b_step, std::int64_t ahead, T* sums, std::int64_t sums_row, bool fresh);

// Sums, two vectors a row, and what they are made from are to fit into the registers: the tallest tile has 8 rows where
// there are 32 registers, 6 where there are 16.
inline constexpr int kMaxTileRows = 8;

// to[(x * k + p) * width + i] = from[p * from_row + x * width + i]: rows of k to panels of so many columns.
template <typename T>
using CopyPanels = void (*)(std::int64_t k, std::int64_t panels, int width, const T* from, std::int64_t from_row,
                            T* to);
// to[p * width + i] = from[i * from_row + p]: a panel of rows, turned. `width` is a multiple of what the function takes
// at a time.
template <typename T>
using TurnPanel = void (*)(std::int64_t k, int width, const T* from, std::int64_t from_row, T* to);

template <typename T>
struct Tiles {
  int lanes;                    // elements of a vector
  int rows;                     // of the tallest tile
  Tile<T> at[kMaxTileRows][2];  // of i + 1 rows; one vector wide, or two
  CopyPanels<T> copy_panels;
  TurnPanel<T> turn_rows;     // kMaxTileRows at a time, or a vector
  TurnPanel<T> turn_columns;  // a vector at a time
};

// T: float, double, uint32_t, uint64_t.
template <typename T>
const Tiles<T>& tiles(SimdLevel level);

// sums[r * kDotColumns + c] = sum over p of a[r * a_row + p] * b[c * b_column + p]: both lie along k. Elements are
// summed up in the same order whatever tile they are in.
template <typename T>
struct DotTile {
  using Run = void (*)(std::int64_t k, const T* a, std::int64_t a_row, const T* b, std::int64_t b_column, T* sums);
  int rows = 0;     // 0: there is no such tile
  int columns = 0;  // a divisor of kDotColumns
  Run run = nullptr;
  Run one_column = nullptr;  // as many rows
};
inline constexpr int kDotRows = 4;
inline constexpr int kDotColumns = 8;  // of the widest

// sums[i * sums_line + j] += sum over r of weights[i * weight_line + r * weight_step] * b[r * b_row + j], for n j and
// one or two i; with `fresh` = and not +=. Requires: rows <= kWeighedRows.
inline constexpr int kWeighedRows = 8;
template <typename T>
using WeighRows = void (*)(int rows, std::int64_t n, const T* weights, std::int64_t weight_line,
                           std::int64_t weight_step, const T* b, std::int64_t b_row, T* sums, std::int64_t sums_line,
                           bool fresh);

// What multiplies few lines (gemm_lines.h).
template <typename T>
struct LineTiles {
  DotTile<T> dots[3];
  WeighRows<T> weigh_rows[2];  // for one line and for two
};

// T: float, double.
template <typename T>
const LineTiles<T>& line_tiles(SimdLevel level);

}  // namespace keyway::inline v1::detail
