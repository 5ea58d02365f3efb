// Matrices of 16-bit floats as float32, for the time of a product.
#pragma once

#include <keyway/backends/cpu/matrix.h>
#include <keyway/backends/cpu/tile_cast.h>
#include <keyway/ops/functors/opmath.h>

namespace keyway::inline v1::detail {

// A copy of `matrix` at `to`, dense and along the dimension that is dense in `matrix`.
template <typename T>
Matrix<const Opmath<T>> widened(const Matrix<const T>& matrix, Opmath<T>* to) {
  using Acc = Opmath<T>;
  if (matrix.column_stride != 1 && matrix.row_stride == 1) return widened(matrix.transposed(), to).transposed();
  const Loop widen = cast_loop(cpp_type_to_scalar_type<Acc>, cpp_type_to_scalar_type<T>, current_level());
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    Acc* const row = to + i * matrix.columns;
    const T* const from = matrix.at(i, 0);
    if (matrix.column_stride == 1) {
      char* const data[] = {reinterpret_cast<char*>(row), reinterpret_cast<char*>(const_cast<T*>(from))};
      widen(nullptr, data, matrix.columns);
    } else {
      for (std::int64_t j = 0; j < matrix.columns; ++j) row[j] = static_cast<Acc>(from[j * matrix.column_stride]);
    }
  }
  return {to, matrix.rows, matrix.columns, matrix.columns, 1};
}

}  // namespace keyway::inline v1::detail
