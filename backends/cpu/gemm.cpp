#include <keyway/backends/cpu/dot.h>
#include <keyway/backends/cpu/gemm.h>
#include <keyway/backends/cpu/gemm_block.h>
#include <keyway/backends/cpu/gemm_lines.h>
#include <keyway/backends/cpu/gemm_narrow.h>
#include <keyway/backends/cpu/gemm_parts.h>

namespace keyway::inline v1 {

namespace {

// On this thread.
template <typename T>
void multiply(const Product<T>& product) {
  if (detail::BlockProduct<T>::can_sum_in_place(product)) return detail::BlockProduct<T>(product).run();
  constexpr std::int64_t kSide = 128;  // of what is summed up beside the result
  for (std::int64_t i = 0; i < product.c.rows; i += kSide) {
    const std::int64_t height = std::min(kSide, product.c.rows - i);
    for (std::int64_t j = 0; j < product.c.columns; j += kSide) {
      const std::int64_t width = std::min(kSide, product.c.columns - j);
      detail::BlockProduct<T>(detail::block(product, i, j, height, width)).run();
    }
  }
}

// Calls f(product), or f(part) on all threads for parts that together are the product. How it is cut up must change no
// element of the result.
template <typename T, typename F>
void cut_up(const Product<T>& product, const F& f) {
  if (detail::work(product) <= kPartWork || in_parallel_region()) return f(product);
  const int threads = get_num_threads();
  if (threads == 1) return f(product);
  detail::each_part(product, 4 * threads, f);
}

template <typename T>
void own_gemm(const Product<T>& product) {
  if constexpr (std::floating_point<T>) {
    if (detail::is_for_dots(product)) return cut_up(product, detail::multiply_dots<T>);
    if (detail::is_for_weights(product)) return cut_up(product, detail::multiply_weights<T>);
  }
  cut_up(product, multiply<T>);
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
    Product<T> transposed = product;
    transposed.a = product.b.transposed();
    transposed.b = product.a.transposed();
    transposed.c = product.c.transposed();
    transposed.add = product.add.transposed();
    return gemm(transposed);
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
