// TileCast: how the elements of an operand come to a loop that has them in another dtype, and go back from it.
//
// Loops exist for some dtypes; a driver converts others on their way, block by block, in the first-level cache:
// reductions to the dtype of their accumulation, pointwise functors of 16-bit floats to float32 (loop_dtype.h).
#pragma once

#include <keyway/backends/cpu/copy_tile.h>
#include <keyway/backends/cpu/element_cast.h>

#include <cstdint>

namespace keyway::inline v1::detail {

class TileCast {
 public:
  // A rectangle has at most so many bytes, in either dtype.
  static constexpr std::int64_t kMaxBytes = 16384;

  TileCast() = default;
  TileCast(ScalarType loop, ScalarType memory, SimdLevel level);

  bool needed() const { return load_.given(); }
  // Of the elements in memory.
  std::int64_t itemsize() const { return itemsize_; }

  // A rectangle in memory into a buffer, row by row. Requires: needed().
  void load(char* buffer, const TileFrom& from, std::int64_t rows, std::int64_t columns) const;
  // A buffer into a rectangle in memory. Requires: needed().
  void store(const TileTo& to, const char* buffer, std::int64_t rows, std::int64_t columns) const;

 private:
  ElementCast load_;
  ElementCast store_;
  std::int64_t itemsize_ = 0;
};

}  // namespace keyway::inline v1::detail
