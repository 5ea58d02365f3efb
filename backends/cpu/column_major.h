// Operands that lie column by column, as LAPACK takes them.
#pragma once

#include <keyway/backends/common/column_major.h>
#include <keyway/backends/cpu/copy.h>
#include <keyway/backends/cpu/matrix.h>
#include <keyway/backends/cpu/parallel.h>

#include <algorithm>

namespace keyway::inline v1 {

inline constexpr auto column_major_copy = operands::column_major_copy<copy_elements>;
inline constexpr auto triangles_for = operands::triangles_for<copy_elements>;
using ColumnMajorOut = operands::ColumnMajorOut<copy_elements>;

// The i-th matrix of a batch. Requires: the matrices lie one after another, T is their dtype, perhaps const.
template <typename T>
Matrix<T> nth_matrix(const TensorBase& matrices, std::int64_t i) {
  Matrix<T> matrix = matrix_of<T>(matrices);
  matrix.data += i * matrix.rows * matrix.columns;
  return matrix;
}

// Calls f(i) for each of `count` problems, in threads where it is worth it; one takes about `work` operations.
template <typename F>
void for_each_problem(std::int64_t count, double work, const F& f) {
  const auto grain = static_cast<std::int64_t>(std::clamp(static_cast<double>(kElementGrain) / (work + 1), 1.0, 1e6));
  parallel_for(0, count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) f(i);
  });
}

}  // namespace keyway::inline v1
