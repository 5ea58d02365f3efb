// Tiling: a strided space cut into rectangles of its two inner dimensions, for loops that want contiguous blocks.
#pragma once

#include <keyway/core/tensor/iteration_space.h>

#include <cstdint>

namespace keyway::inline v1 {

// Rectangles of up to rows x columns elements; those at the ends may be smaller.
struct Tiling {
  std::int64_t columns;
  std::int64_t rows;
  std::int64_t column_tiles;
  std::int64_t row_tiles;
  std::int64_t tiles;  // of the whole space

  // Tiles of about `elements`: long rows; or several short ones; or squares, where an operand runs the other way, so
  // that each cache line of it is used more than once.
  static Tiling make(const IterationSpace& space, std::int64_t elements);
};

// Whether an operand's inner dimension is not the one with the smallest stride.
bool runs_across(const IterationSpace& space, int operand);

// Where a tile is. Tiles are counted along rows first, then columns, then the outer dimensions.
class TileCursor {
 public:
  // Requires: space and tiling outlive it.
  TileCursor(const IterationSpace& space, const Tiling& tiling, std::int64_t tile);

  char* data(int k) const {
    return outer_[k] + column_ * tiling_.columns * space_.stride(k, 0) + row_ * tiling_.rows * space_.stride(k, 1);
  }
  std::int64_t columns() const {
    const std::int64_t left = space_.size(0) - column_ * tiling_.columns;
    return left < tiling_.columns ? left : tiling_.columns;
  }
  std::int64_t rows() const {
    const std::int64_t left = space_.size(1) - row_ * tiling_.rows;
    return left < tiling_.rows ? left : tiling_.rows;
  }
  void advance() {
    if (++column_ < tiling_.column_tiles) return;
    column_ = 0;
    if (++row_ < tiling_.row_tiles) return;
    row_ = 0;
    advance_outer();
  }

 private:
  void advance_outer();
  void place_outer();

  const IterationSpace& space_;
  const Tiling& tiling_;
  std::int64_t column_;
  std::int64_t row_;
  std::int64_t index_[kMaxDims];
  char* outer_[IterationSpace::kMaxOperands];
};

}  // namespace keyway::inline v1
