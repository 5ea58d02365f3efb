#include <keyway/backends/cpu/tiling.h>

#include <algorithm>

namespace keyway::inline v1 {

bool runs_across(const IterationSpace& space, int operand) {
  return space.rank > 1 && space.strides[operand][1] != 0 && space.strides[operand][1] < space.strides[operand][0];
}

Tiling Tiling::make(const IterationSpace& space, std::int64_t elements) {
  constexpr std::int64_t kSquareColumns = 32;
  Tiling tiling;
  const std::int64_t n0 = space.size(0), n1 = space.size(1);
  bool across = false;
  for (int k = 0; k < space.operands; ++k) across = across || runs_across(space, k);
  if (across) {
    tiling.columns = std::min(n0, kSquareColumns);
    tiling.rows = std::min(n1, std::max<std::int64_t>(1, elements / tiling.columns));
  } else if (n0 >= elements / 2) {
    tiling.columns = std::min(n0, elements);
    tiling.rows = 1;
  } else {
    tiling.columns = n0;
    tiling.rows = std::min(n1, elements / n0);
  }
  tiling.column_tiles = (n0 - 1) / tiling.columns + 1;
  tiling.row_tiles = (n1 - 1) / tiling.rows + 1;
  tiling.tiles = tiling.column_tiles * tiling.row_tiles;
  for (int d = 2; d < space.rank; ++d) tiling.tiles *= space.sizes[d];
  return tiling;
}

TileCursor::TileCursor(const IterationSpace& space, const Tiling& tiling, std::int64_t tile)
    : space_(space), tiling_(tiling) {
  column_ = tile % tiling.column_tiles;
  tile /= tiling.column_tiles;
  row_ = tile % tiling.row_tiles;
  tile /= tiling.row_tiles;
  for (int d = 2; d < space.rank; ++d) {
    index_[d] = tile % space.sizes[d];
    tile /= space.sizes[d];
  }
  place_outer();
}

void TileCursor::advance_outer() {
  for (int d = 2; d < space_.rank; ++d) {
    if (++index_[d] < space_.sizes[d]) break;
    index_[d] = 0;
  }
  place_outer();
}

void TileCursor::place_outer() {
  for (int k = 0; k < space_.operands; ++k) {
    outer_[k] = space_.data[k];
    for (int d = 2; d < space_.rank; ++d) outer_[k] += index_[d] * space_.strides[k][d];
  }
}

}  // namespace keyway::inline v1
