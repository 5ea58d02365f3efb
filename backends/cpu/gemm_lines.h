// Products of few rows or columns: of a row with neighbours in b, and of lines that both lie along k. They read each
// operand once, in long runs, and pack nothing.
#pragma once

#include <keyway/backends/cpu/gemm_parts.h>
#include <keyway/backends/cpu/gemm_tiles.h>

#include <algorithm>
#include <iterator>

namespace keyway::inline v1::detail {

// Whether lines of both operands lie along k, and those of one are so few that turning the other would not pay.
template <typename T>
bool is_for_dots(const Product<T>& product) {
  constexpr std::int64_t kFew = 8;
  return product.a.column_stride == 1 && product.b.row_stride == 1 && product.a.columns >= 128 &&
         std::min(product.c.rows, product.c.columns) <= kFew;
}

// c = alpha * sums + beta * add, of a tile.
template <typename T>
void write_dots(const Product<T>& tile, const T* sums) {
  for (std::int64_t r = 0; r < tile.c.rows; ++r) {
    for (std::int64_t c = 0; c < tile.c.columns; ++c) {
      T value = tile.alpha * sums[r * kDotColumns + c];
      if (tile.beta != 0) value += tile.beta * *tile.add.at(r, c);
      *tile.c.at(r, c) = value;
    }
  }
}

// Requires: is_for_dots.
template <std::floating_point T>
void multiply_dots(const Product<T>& product) {
  const LineTiles<T>& level = line_tiles<T>(current_level());
  const std::int64_t rows = product.c.rows, columns = product.c.columns, k = product.a.columns;
  T sums[kDotRows * kDotColumns];
  int tallest = static_cast<int>(std::size(level.dots)) - 1;
  while (level.dots[tallest].rows == 0) --tallest;
  for (std::int64_t j = 0; j < columns; j += kDotColumns) {
    const std::int64_t end = std::min(columns, j + kDotColumns);
    int at = tallest;
    for (std::int64_t i = 0; i < rows; i += level.dots[at].rows) {
      while (level.dots[at].rows > rows - i) --at;
      const DotTile<T>& tile = level.dots[at];
      for (std::int64_t x = j; x < end;) {
        const int width = x + tile.columns <= end ? tile.columns : 1;
        (width == 1 ? tile.one_column : tile.run)(k, product.a.at(i, 0), product.a.row_stride, product.b.at(0, x),
                                                  product.b.column_stride, sums);
        write_dots(block(product, i, x, tile.rows, width), sums);
        x += width;
      }
    }
  }
}

// Whether rows are so few that they are better summed up as weighed rows of b, along these.
template <typename T>
bool is_for_weights(const Product<T>& product) {
  return product.c.rows <= 4 && product.a.columns > 0 && product.b.column_stride == 1 && product.c.column_stride == 1 &&
         product.alpha == Opmath<T>(1);
}

// Requires: is_for_weights.
template <std::floating_point T>
void multiply_weights(const Product<T>& product) {
  // Of c at a time: a first-level cache holds that and what is read for a row, if there is a next one.
  const std::int64_t rows = product.c.rows, columns = product.c.columns, k = product.a.columns;
  const std::int64_t width = (rows <= 2 ? 16384 : 4096) / static_cast<std::int64_t>(sizeof(T));
  const LineTiles<T>& level = line_tiles<T>(current_level());
  for (std::int64_t j = 0; j < columns; j += width) {
    const std::int64_t n = std::min(width, columns - j);
    for (std::int64_t i = 0; i < rows && product.beta != 0; ++i) {
      for (std::int64_t x = j; x < j + n; ++x) *product.c.at(i, x) = product.beta * *product.add.at(i, x);
    }
    for (std::int64_t p = 0; p < k; p += kWeighedRows) {
      const int count = static_cast<int>(std::min<std::int64_t>(kWeighedRows, k - p));
      for (std::int64_t i = 0; i < rows; i += 2) {
        level.weigh_rows[i + 1 < rows](count, n, product.a.at(i, p), product.a.row_stride, product.a.column_stride,
                                       product.b.at(p, j), product.b.row_stride, product.c.at(i, j),
                                       product.c.row_stride, p == 0 && product.beta == 0);
      }
    }
  }
}

}  // namespace keyway::inline v1::detail
