// Tiles: the innermost loops of matrix products. A tile is a few rows of the result, one or two vectors wide, that
// stays in registers while the loop runs over k. Beside them, what packs operands.
#pragma once

#include <keyway/backends/cpu/simd/level.h>

#include <cstdint>
#include <iterator>

namespace keyway::inline v1::detail {

// sums[r * sums_row + x] += sum over p of a[r * a_row + p * a_step] * b[p * b_step + x]; with `fresh` = and not +=.
template <typename T>
using Tile = void (*)(std::int64_t k, const T* a, std::int64_t a_row, std::int64_t a_step, const T* b,
                      std::int64_t b_step, T* sums, std::int64_t sums_row, bool fresh);

// How many rows tiles may have. Sums, two vectors a row, and what they are made from are to fit into the registers: the
// tallest has 8 rows where there are 32 registers, 6 where there are 16.
inline constexpr int kTileRows[] = {1, 2, 4, 6, 8};
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
  int lanes;                                 // elements of a vector
  int heights;                               // tiles that there are
  Tile<T> at[std::size(kTileRows)][2] = {};  // of kTileRows[i] rows; one vector or two
  CopyPanels<T> copy_panels;
  TurnPanel<T> turn_rows;     // kMaxTileRows at a time, or a vector
  TurnPanel<T> turn_columns;  // a vector at a time
};

// T: float, double, uint32_t, uint64_t.
template <typename T>
const Tiles<T>& tiles(Level level);

}  // namespace keyway::inline v1::detail
