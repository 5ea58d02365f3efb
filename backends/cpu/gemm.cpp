#include <keyway/backends/cpu/gemm.h>
#include <keyway/backends/cpu/gemm_block.h>
#include <keyway/backends/cpu/onednn.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace keyway::inline v1 {

namespace {

template <typename T>
double work(const Product<T>& product) {
  return static_cast<double>(product.c.rows) * static_cast<double>(product.c.columns) *
         static_cast<double>(product.a.columns);
}

// Whether float32 is better off with own loops: oneDNN's calls cost some hundred nanoseconds.
bool is_small(const Product<float>& product) {
  const double multiplications = work(product);
  // Of one row only reading b counts, which they would turn first.
  if (product.c.rows == 1 && product.b.column_stride != 1) return multiplications <= 4096;
  return multiplications <= 32.0 * 32 * 32 || (multiplications <= 64.0 * 64 * 64 && product.c.columns <= 64);
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

template <typename T>
void own_gemm(const Product<T>& product) {
  constexpr std::int64_t kSide = 128;
  if (work(product) <= kPartWork && product.c.rows <= kSide && product.c.columns <= kSide) {
    detail::BlockProduct<T>(product).run();
    return;
  }
  each_block(product, (product.c.rows + kSide - 1) / kSide, (product.c.columns + kSide - 1) / kSide,
             [](const Product<T>& part) { detail::BlockProduct<T>(part).run(); });
}

// How oneDNN takes a matrix: rows, or columns, that are dense and a leading dimension apart.
struct Leading {
  bool transposed = false;
  std::int64_t stride = 0;  // 0: it cannot
};
Leading leading(const Matrix<const float>& matrix) {
  const auto stride = [](std::int64_t count, std::int64_t length, std::int64_t step, std::int64_t apart) {
    if (length > 1 && step != 1) return std::int64_t{0};
    if (count == 1) return length;
    return apart >= length ? apart : std::int64_t{0};
  };
  const std::int64_t by_rows = stride(matrix.rows, matrix.columns, matrix.column_stride, matrix.row_stride);
  if (by_rows != 0) return {false, by_rows};
  return {true, stride(matrix.columns, matrix.rows, matrix.row_stride, matrix.column_stride)};
}

// Whether oneDNN is better off with a copy of b, which `rows` rows of a are multiplied with. Rows that lie a multiple
// of 1024 bytes apart share few places in the caches: on AMD's Zen 3 a product of 1024 x 1024 took twice as long.
bool is_better_copied(const Matrix<const float>& b, std::int64_t rows) {
  const Leading by = leading(b);
  return !by.transposed && by.stride % 256 == 0 && b.rows >= 128 && rows >= 64;
}

// `matrix` itself, or a dense copy, which is also made if oneDNN cannot take it.
class DenseMatrix {
 public:
  DenseMatrix(const Matrix<const float>& matrix, bool copied) : matrix_(matrix) {
    if (leading(matrix).stride != 0 && !copied) return;
    const std::int64_t stride = matrix.columns + (matrix.columns % 256 == 0 ? 16 : 0);
    copy_ = host_allocator().allocate(static_cast<std::size_t>(matrix.rows * stride) * sizeof(float));
    float* const data = static_cast<float*>(copy_.get());
    parallel_for(0, matrix.rows, std::max<std::int64_t>(1, 32768 / matrix.columns),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) {
                     if (matrix.column_stride == 1) {
                       std::memcpy(data + i * stride, matrix.at(i, 0), static_cast<std::size_t>(matrix.columns) * 4);
                     } else {
                       detail::pack_rows(matrix.block(i, 0, 1, matrix.columns), data + i * stride);
                     }
                   }
                 });
    matrix_ = {data, matrix.rows, matrix.columns, stride, 1};
  }
  const Matrix<const float>& get() const { return matrix_; }

 private:
  Matrix<const float> matrix_;
  DataPtr copy_;
};

void add_to_c(const Product<float>& part) {
  if (part.add.data == part.c.data) return;
  for (std::int64_t i = 0; i < part.c.rows; ++i) {
    detail::pack_rows(part.add.block(i, 0, 1, part.c.columns), part.c.at(i, 0));
  }
}

void sgemm(const Product<float>& part) {
  if (part.beta != 0) add_to_c(part);
  const Leading a = leading(part.a), b = leading(part.b);
  onednn::sgemm(a.transposed, b.transposed, part.c.rows, part.c.columns, part.a.columns, part.alpha, part.a.data,
                a.stride, part.b.data, b.stride, part.beta, part.c.data,
                part.c.rows == 1 ? part.c.columns : part.c.row_stride);
}

bool has_dense_rows(const Matrix<float>& c) {
  return (c.columns == 1 || c.column_stride == 1) && (c.rows == 1 || c.row_stride >= c.columns);
}

// The greatest power of two that is neither above x nor above `most`; 1 at least.
std::uint64_t power_of_two(double x, double most) {
  return std::bit_floor(static_cast<std::uint64_t>(std::max(1.0, std::min(x, most))));
}

// oneDNN packs both operands anew in each call. So the parts grow with the product, up to what 32 threads can share,
// are about as wide as high once they are many, and none is so narrow that packing shows. Powers of two make equal
// shares.
void onednn_gemm(const Product<float>& product) {
  const DenseMatrix a(product.a, false), b(product.b, is_better_copied(product.b, product.c.rows));
  Product<float> dense = product;
  dense.a = a.get();
  dense.b = b.get();
  const auto rows = static_cast<double>(product.c.rows), columns = static_cast<double>(product.c.columns);
  const auto parts = static_cast<double>(power_of_two(std::sqrt(2 * work(product) / kPartWork), 32));
  const double even = std::round(std::sqrt(parts * rows / columns));
  const auto down = static_cast<double>(power_of_two(parts > 2 ? even : rows < columns ? 1 : parts, parts));
  each_block(dense, static_cast<std::int64_t>(power_of_two(down, rows / 64)),
             static_cast<std::int64_t>(power_of_two(parts / down, columns / 128)), sgemm);
}

}  // namespace

template <typename T>
void gemm(const Product<T>& product) {
  if (product.c.rows == 0 || product.c.columns == 0) return;
  if (product.a.columns == 0 && (product.a.data != nullptr || product.b.data != nullptr)) {
    Product<T> nothing = product;  // what is empty may lie nowhere, where no step may be taken
    nothing.a = {nullptr, product.a.rows, 0, 0, 0};
    nothing.b = {nullptr, 0, product.b.columns, 0, 0};
    return gemm(nothing);
  }
  const bool is_column = product.c.columns == 1 && product.c.rows > 1;
  if ((product.c.column_stride != 1 || is_column) && product.c.row_stride == 1) {
    Product<T> turned = product;
    turned.a = product.b.transposed();
    turned.b = product.a.transposed();
    turned.c = product.c.transposed();
    turned.add = product.add.transposed();
    return gemm(turned);
  }
  if constexpr (std::is_same_v<T, float>) {
    if (!is_small(product) && has_dense_rows(product.c)) return onednn_gemm(product);
  }
  own_gemm(product);
}

template void gemm(const Product<std::uint8_t>&);
template void gemm(const Product<std::int8_t>&);
template void gemm(const Product<std::uint16_t>&);
template void gemm(const Product<std::int16_t>&);
template void gemm(const Product<std::uint32_t>&);
template void gemm(const Product<std::int32_t>&);
template void gemm(const Product<std::uint64_t>&);
template void gemm(const Product<std::int64_t>&);
template void gemm(const Product<Half>&);
template void gemm(const Product<BFloat16>&);
template void gemm(const Product<float>&);
template void gemm(const Product<double>&);
template void gemm(const Product<complex<Half>>&);
template void gemm(const Product<complex<float>>&);
template void gemm(const Product<complex<double>>&);

}  // namespace keyway::inline v1
