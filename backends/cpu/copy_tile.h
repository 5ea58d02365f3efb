// copy_tile: a rectangle of elements from strided memory to strided memory.
#pragma once

#include <keyway/core/base/macros.h>

#include <cstdint>

namespace keyway::inline v1 {

// Where the element in row r and column c of a rectangle is: data + r * row + c * column, in bytes.
struct TileTo {
  char* data;
  std::int64_t row;
  std::int64_t column;
};
struct TileFrom {
  const char* data;
  std::int64_t row;
  std::int64_t column;
};

// Elements of 1, 2, 4, 8 or 16 bytes; a source stride of 0 repeats them. Fast where both sides are contiguous along a
// dimension, be it the same (rows are moved) or not (blocks are transposed in registers). The rectangles must not
// overlap, unless they are the same.
void copy_tile(const TileTo& to, const TileFrom& from, std::int64_t rows, std::int64_t columns, std::int64_t itemsize);

// To or from a contiguous buffer, row by row.
inline void pack(char* buffer, const TileFrom& from, std::int64_t rows, std::int64_t columns, std::int64_t itemsize) {
  copy_tile({buffer, columns * itemsize, itemsize}, from, rows, columns, itemsize);
}
inline void unpack(const TileTo& to, const char* buffer, std::int64_t rows, std::int64_t columns,
                   std::int64_t itemsize) {
  copy_tile(to, {buffer, columns * itemsize, itemsize}, rows, columns, itemsize);
}

// Bytes to memory that nobody will read soon, past the caches: saves reading what is overwritten. To be followed by
// stream_fence(), once, before another thread may read them.
KEYWAY_API void stream_bytes(char* to, const char* from, std::int64_t bytes);
KEYWAY_API void stream_fence();
// From so many bytes on an output is better streamed: half of the last-level cache.
KEYWAY_API std::int64_t stream_threshold();

}  // namespace keyway::inline v1
