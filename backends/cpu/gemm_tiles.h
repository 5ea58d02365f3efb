// Tiles: the innermost loops of our own matrix products. A tile is a few rows of the result, one or two
// vectors wide, that stays in registers while the loop runs over k.
#pragma once

#include <keyway/backends/cpu/simd/level.h>

#include <cstdint>
#include <iterator>

namespace keyway::inline v1::detail {

// sums[r * sums_row + x] += sum over p of a[r * a_row + p * a_step] * b[p * b_step + x]; with `fresh` the sums begin at
// 0.
template <typename T>
using Tile = void (*)(std::int64_t k, const T* a, std::int64_t a_row, std::int64_t a_step, const T* b,
                      std::int64_t b_step, T* sums, std::int64_t sums_row, bool fresh);

// How many rows tiles may have. Sums, two vectors a row, and what they are made from are to fit into the registers: the
// tallest has 8 rows where there are 32 registers, 6 where there are 16.
inline constexpr int kTileRows[] = {1, 2, 4, 6, 8};
inline constexpr int kMaxTileRows = 8;

template <typename T>
struct Tiles {
  int lanes;                                 // elements of a vector
  int heights;                               // tiles that there are
  Tile<T> at[std::size(kTileRows)][2] = {};  // of kTileRows[i] rows; one vector or two
};

// T: float, double, uint32_t, uint64_t.
template <typename T>
const Tiles<T>& tiles(Level level);

}  // namespace keyway::inline v1::detail
