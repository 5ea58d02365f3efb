// Matrix<T>: a matrix in memory, as products take it.
#pragma once

#include <keyway/core/tensor/tensor_base.h>

#include <cstdint>
#include <type_traits>

namespace keyway::inline v1 {

// Element (i, j) is data[i * row_stride + j * column_stride]; a stride of 0 broadcasts. Owns nothing.
template <typename T>
struct Matrix {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;

  T* at(std::int64_t i, std::int64_t j) const { return data + i * row_stride + j * column_stride; }
  Matrix block(std::int64_t i, std::int64_t j, std::int64_t height, std::int64_t width) const {
    return {at(i, j), height, width, row_stride, column_stride};
  }
  Matrix transposed() const { return {data, columns, rows, column_stride, row_stride}; }
  operator Matrix<const T>() const requires(!std::is_const_v<T>) {
    return {data, rows, columns, row_stride, column_stride};
  }
};

// The last two dimensions of `tensor`, from its first element. Requires: T is its dtype, perhaps const.
template <typename T>
Matrix<T> matrix_of(const TensorBase& tensor) {
  const IntArrayRef sizes = tensor.sizes(), strides = tensor.strides();
  const std::size_t d = sizes.size() - 2;
  return {static_cast<T*>(tensor.data_ptr()), sizes[d], sizes[d + 1], strides[d], strides[d + 1]};
}

}  // namespace keyway::inline v1
