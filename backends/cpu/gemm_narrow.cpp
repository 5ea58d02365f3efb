#include <keyway/backends/cpu/element_cast.h>
#include <keyway/backends/cpu/gemm_narrow.h>
#include <keyway/backends/cpu/onednn_product.h>
#include <keyway/backends/cpu/scratch.h>

#include <type_traits>

namespace keyway::inline v1::detail {

namespace {

// A copy of `matrix` at `to`, dense and along the dimension that is dense in `matrix`.
template <typename T>
Matrix<const Opmath<T>> widened(const Matrix<const T>& matrix, Opmath<T>* to) {
  using Acc = Opmath<T>;
  if (matrix.column_stride != 1 && matrix.row_stride == 1) return widened(matrix.transposed(), to).transposed();
  const ElementCast widen(cpp_type_to_scalar_type<Acc>, cpp_type_to_scalar_type<T>, current_level());
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    Acc* const row = to + i * matrix.columns;
    const T* const from = matrix.at(i, 0);
    if (matrix.column_stride == 1) {
      widen.run(row, from, matrix.columns);
    } else {
      for (std::int64_t j = 0; j < matrix.columns; ++j) row[j] = static_cast<Acc>(from[j * matrix.column_stride]);
    }
  }
  return {to, matrix.rows, matrix.columns, matrix.columns, 1};
}

// c = alpha * sums + beta * add. `sums` is row-major, and changed.
template <typename T>
void write_sums(const Product<T>& product, float* sums) {
  const ElementCast round(cpp_type_to_scalar_type<T>, kFloat, current_level());
  const std::int64_t columns = product.c.columns;
  const bool adds = product.beta != 0;
  const ScratchArray<float> added(adds ? columns : 0);
  for (std::int64_t i = 0; i < product.c.rows; ++i, sums += columns) {
    if (adds) {
      const Matrix<const float> row = widened(product.add.block(i, 0, 1, columns), added.data());
      for (std::int64_t j = 0; j < columns; ++j) sums[j] = product.alpha * sums[j] + product.beta * *row.at(0, j);
    } else if (product.alpha != 1) {
      for (std::int64_t j = 0; j < columns; ++j) sums[j] *= product.alpha;
    }
    if (product.c.column_stride == 1) {
      round.run(product.c.at(i, 0), sums, columns);
    } else {
      for (std::int64_t j = 0; j < columns; ++j) *product.c.at(i, j) = static_cast<T>(sums[j]);
    }
  }
}

// Columns of b at a time, as float32 that stay in a cache.
template <typename T>
void float_gemm(const Product<T>& product) {
  constexpr std::int64_t kElements = 1 << 18;
  const std::int64_t rows = product.c.rows, depth = product.a.columns, columns = product.c.columns;
  const std::int64_t width = std::min(columns, std::max<std::int64_t>(64, kElements / depth / 64 * 64));
  const ScratchArray<float> wide_a(rows * depth);
  const Matrix<const float> a = widened(product.a, wide_a.data());
  parallel_for(0, (columns + width - 1) / width, 1, [&](std::int64_t begin, std::int64_t end) {
    const ScratchArray<float> wide_b(depth * width), sums(rows * width);
    for (std::int64_t x = begin; x < end; ++x) {
      const Product<T> part = block(product, 0, x * width, rows, std::min(width, columns - x * width));
      const Matrix<float> c{sums.data(), rows, part.c.columns, part.c.columns, 1};
      gemm(Product<float>{a, widened(part.b, wide_b.data()), c});
      write_sums(part, sums.data());
    }
  });
}

onednn::ProductKey key_of(const Product<BFloat16>& part, bool rounds) {
  const Leading a = leading(part.a), b = leading(part.b);
  const auto row = [](const Leading& of) { return of.transposed ? 1 : of.stride; };
  const auto column = [](const Leading& of) { return of.transposed ? of.stride : 1; };
  const std::int64_t c_row = !rounds || part.c.rows == 1 ? part.c.columns : part.c.row_stride;
  return {part.c.rows, part.c.columns, part.a.columns, row(a), column(a), row(b), column(b), c_row, rounds};
}

// False, and nothing was written, where oneDNN has no product for it.
bool onednn_gemm(const Product<BFloat16>& part) {
  const bool rounds = part.alpha == 1 && part.beta == 0 && has_dense_rows(part.c);
  const auto made = onednn::Product::get(key_of(part, rounds));
  if (made == nullptr) return false;
  if (rounds) {
    made->run(part.a.data, part.b.data, part.c.data);
  } else {
    const ScratchArray<float> sums(part.c.rows * part.c.columns);
    made->run(part.a.data, part.b.data, sums.data());
    write_sums(part, sums.data());
  }
  return true;
}

}  // namespace

template <typename T>
void narrow_gemm(const Product<T>& product) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    if (multiplies_bfloat16()) {
      const DenseMatrix<T> a(product.a), b(product.b);
      Product<T> dense = product;
      dense.a = a.get();
      dense.b = b.get();
      constexpr int kParts = 32;  // whatever the number of threads: oneDNN may sum up each in an order of its own
      return each_part(dense, kParts, [](const Product<T>& part) {
        if (!onednn_gemm(part)) float_gemm(part);
      });
    }
  }
  float_gemm(product);
}

template void narrow_gemm(const Product<Half>&);
template void narrow_gemm(const Product<BFloat16>&);

}  // namespace keyway::inline v1::detail
