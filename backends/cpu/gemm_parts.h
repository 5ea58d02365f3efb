// Parts of matrix products: how one is cut up for the threads, and how libraries take a matrix.
#pragma once

#include <keyway/backends/cpu/copy_tile.h>
#include <keyway/backends/cpu/gemm.h>
#include <keyway/core/device/host_allocator.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace keyway::inline v1::detail {

template <typename T>
double work(const Product<T>& product) {
  return static_cast<double>(product.c.rows) * static_cast<double>(product.c.columns) *
         static_cast<double>(product.a.columns);
}

template <typename T>
Product<T> block(const Product<T>& product, std::int64_t i, std::int64_t j, std::int64_t height, std::int64_t width) {
  Product<T> part = product;
  part.a = product.a.block(i, 0, height, product.a.columns);
  part.b = product.b.block(0, j, product.b.rows, width);
  part.c = product.c.block(i, j, height, width);
  part.add = product.add.block(i, j, height, width);
  return part;
}

// Cuts c into a grid of at most down x across blocks and calls f with the product of each, on all threads.
template <typename T, typename F>
void each_block(const Product<T>& product, std::int64_t down, std::int64_t across, const F& f) {
  const auto part = [](std::int64_t size, std::int64_t count) {
    const std::int64_t even = (size + count - 1) / count;
    return std::min(size, (even + 15) / 16 * 16);  // whole vectors and tiles
  };
  const std::int64_t rows = product.c.rows, columns = product.c.columns;
  const std::int64_t height = part(rows, down), width = part(columns, across);
  across = (columns + width - 1) / width;
  down = (rows + height - 1) / height;
  parallel_for(0, across * down, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t x = begin; x < end; ++x) {
      const std::int64_t i = x / across * height, j = x % across * width;
      f(block(product, i, j, std::min(height, rows - i), std::min(width, columns - j)));
    }
  });
}

// The greatest power of two that is neither above x nor above `most`; 1 at least.
inline std::uint64_t power_of_two(double x, double most) {
  return std::bit_floor(static_cast<std::uint64_t>(std::max(1.0, std::min(x, most))));
}

// Each part packs its operands anew. So parts grow with the product, up to `most`, are about as wide as high once they
// are many, and none is so narrow that packing shows. Powers of two make equal shares.
template <typename T, typename F>
void each_part(const Product<T>& product, int most, const F& f) {
  const auto rows = static_cast<double>(product.c.rows), columns = static_cast<double>(product.c.columns);
  const auto parts = static_cast<double>(power_of_two(std::sqrt(2 * work(product) / kPartWork), most));
  const double even = std::round(std::sqrt(parts * rows / columns));
  const auto down = static_cast<double>(power_of_two(parts > 2 ? even : rows < columns ? 1 : parts, parts));
  each_block(product, static_cast<std::int64_t>(power_of_two(down, rows / 64)),
             static_cast<std::int64_t>(power_of_two(parts / down, columns / 128)), f);
}

// How oneDNN takes a matrix: rows, or columns, that are dense and a leading dimension apart.
struct Leading {
  bool transposed = false;
  std::int64_t stride = 0;  // 0: it cannot
};
template <typename T>
Leading leading(const Matrix<const T>& matrix) {
  const auto stride = [](std::int64_t count, std::int64_t length, std::int64_t step, std::int64_t apart) {
    if (length > 1 && step != 1) return std::int64_t{0};
    if (count == 1) return length;
    return apart >= length ? apart : std::int64_t{0};
  };
  const std::int64_t by_rows = stride(matrix.rows, matrix.columns, matrix.column_stride, matrix.row_stride);
  if (by_rows != 0) return {false, by_rows};
  return {true, stride(matrix.columns, matrix.rows, matrix.row_stride, matrix.column_stride)};
}

template <typename T>
TileFrom tile_of(const Matrix<const T>& matrix) {
  constexpr auto item = static_cast<std::int64_t>(sizeof(T));
  return {reinterpret_cast<const char*>(matrix.data), matrix.row_stride * item, matrix.column_stride * item};
}

// `matrix` itself, or a dense copy if oneDNN cannot take it.
template <typename T>
class DenseMatrix {
 public:
  explicit DenseMatrix(const Matrix<const T>& matrix) : matrix_(matrix) {
    if (leading(matrix).stride != 0) return;
    constexpr auto item = static_cast<std::int64_t>(sizeof(T));
    const std::int64_t stride = matrix.columns + (matrix.columns % 256 == 0 ? 16 : 0);
    copy_ = host_allocator().allocate(static_cast<std::size_t>(matrix.rows * stride * item));
    char* const data = static_cast<char*>(copy_.get());
    parallel_for(
        0, matrix.rows, std::max<std::int64_t>(1, kElementGrain / matrix.columns),
        [&](std::int64_t begin, std::int64_t end) {
          const Matrix<const T> rows = matrix.block(begin, 0, end - begin, matrix.columns);
          copy_tile({data + begin * stride * item, stride * item, item}, tile_of(rows), rows.rows, rows.columns, item);
        });
    matrix_ = {reinterpret_cast<const T*>(data), matrix.rows, matrix.columns, stride, 1};
  }
  const Matrix<const T>& get() const { return matrix_; }

 private:
  Matrix<const T> matrix_;
  DataPtr copy_;
};

// Whether `c` can be written by those who want dense rows.
template <typename T>
bool has_dense_rows(const Matrix<T>& c) {
  return (c.columns == 1 || c.column_stride == 1) && (c.rows == 1 || c.row_stride >= c.columns);
}

}  // namespace keyway::inline v1::detail
