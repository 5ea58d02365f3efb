// ProductTiles: how the results of a batched product are shared out among blocks that have a square of them each.
#pragma once

#include <keyway/core/base/macros.h>

#include <algorithm>
#include <cstdint>

namespace keyway::inline v1::cuda {

inline constexpr unsigned kTileThreads = 256;
inline constexpr unsigned kTileSide = 64;   // rows and columns of results
inline constexpr unsigned kTileDepth = 16;  // of k, staged at a time
inline constexpr unsigned kThreadSide = 4;  // a thread has as many rows and columns, kTileSide / kThreadSide apart

struct ProductTiles {
  std::int64_t down = 0, across = 0, batch = 0;

  ProductTiles() = default;
  ProductTiles(std::int64_t matrices, std::int64_t rows, std::int64_t columns)
      : down((rows + kTileSide - 1) / kTileSide), across((columns + kTileSide - 1) / kTileSide), batch(matrices) {}

  KEYWAY_HD std::int64_t count() const { return batch * down * across; }
  // Blocks of a launch; each takes every blocks()-th tile.
  unsigned blocks() const { return static_cast<unsigned>(std::min<std::int64_t>(count(), std::int64_t{1} << 30)); }

  // Which matrix, and the first row and column.
  struct Tile {
    std::int64_t matrix, row, column;
  };
  KEYWAY_HD Tile tile(std::int64_t number) const {
    const std::int64_t line = number / across;
    return {line / down, line % down * kTileSide, (number - line * across) * kTileSide};
  }
};

}  // namespace keyway::inline v1::cuda
