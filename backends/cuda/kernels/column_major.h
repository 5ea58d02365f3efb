// Operands that lie column by column, as cuSOLVER takes them. Internal to backends/cuda.
#pragma once

#include <keyway/backends/common/column_major.h>
#include <keyway/backends/cuda/driver/cusolver.h>
#include <keyway/backends/cuda/kernels/copy_elements.h>

#include <cstddef>

namespace keyway::inline v1::cuda {

inline constexpr auto column_major_copy = operands::column_major_copy<copy_elements>;
inline constexpr auto triangles_for = operands::triangles_for<copy_elements>;
using ColumnMajorOut = operands::ColumnMajorOut<copy_elements>;

// The i-th matrix of a batch that lies one after another.
inline DeviceMatrix nth_matrix(const TensorBase& matrices, std::int64_t i) {
  const std::int64_t rows = rows_of(matrices), columns = columns_of(matrices);
  const auto offset = static_cast<std::size_t>(i * rows * columns) * matrices.itemsize();
  return {matrices.dtype(), static_cast<char*>(matrices.data_ptr()) + offset, rows, columns};
}

// The i-th of rows of `count` elements that lie one after another.
inline void* nth_row(const TensorBase& rows, std::int64_t i, std::int64_t count) {
  return static_cast<char*>(rows.data_ptr()) + static_cast<std::size_t>(i * count) * rows.itemsize();
}

}  // namespace keyway::inline v1::cuda
