#include <keyway/backends/cpu/dot.h>
#include <keyway/backends/cpu/gemm.h>
#include <keyway/backends/cpu/gemm_block.h>
#include <keyway/backends/cpu/gemm_narrow.h>
#include <keyway/backends/cpu/gemm_parts.h>
#include <keyway/backends/cpu/onednn.h>

namespace keyway::inline v1 {

namespace {

using detail::DenseMatrix;
using detail::each_block;
using detail::Leading;
using detail::leading;
using detail::work;

// Whether float32 is better off with own loops: oneDNN's calls cost some hundred nanoseconds.
bool is_small(const Product<float>& product) {
  const double multiplications = work(product);
  // Of one row only reading b counts, which they would turn first.
  if (product.c.rows == 1 && product.b.column_stride != 1) return multiplications <= 4096;
  return multiplications <= 32.0 * 32 * 32 || (multiplications <= 64.0 * 64 * 64 && product.c.columns <= 64);
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

// Whether a row is multiplied with a column, and the elements of both are neighbours.
template <typename T>
bool is_dot(const Product<T>& product) {
  return product.c.rows == 1 && product.c.columns == 1 && product.a.column_stride == 1 && product.b.row_stride == 1;
}

template <std::floating_point T>
void run_dot(const Product<T>& product) {
  T value = product.alpha * detail::dot(product.a.data, product.b.data, product.a.columns);
  if (product.beta != 0) value += product.beta * *product.add.data;
  *product.c.data = value;
}

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

// Whether oneDNN is better off with a copy of b, which `rows` rows of a are multiplied with. Rows that lie a multiple
// of 1024 bytes apart share few places in the caches: on AMD's Zen 3 a product of 1024 x 1024 took twice as long.
bool is_better_copied(const Matrix<const float>& b, std::int64_t rows) {
  const Leading by = leading(b);
  return !by.transposed && by.stride % 256 == 0 && b.rows >= 128 && rows >= 64;
}

void onednn_gemm(const Product<float>& product) {
  const DenseMatrix<float> a(product.a, false), b(product.b, is_better_copied(product.b, product.c.rows));
  Product<float> dense = product;
  dense.a = a.get();
  dense.b = b.get();
  detail::each_part(dense, sgemm);
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
  if constexpr (std::floating_point<T>) {
    if (is_dot(product)) return run_dot(product);
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
    if (!is_small(product) && detail::has_dense_rows(product.c)) return onednn_gemm(product);
  }
  if constexpr (NarrowFloatType<T>) {
    if (!detail::is_small(product)) return detail::narrow_gemm(product);
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
