// The kernel of equations with triangles, a few rows at a time: those of a block of the diagonal are solved one after
// the other, and what they say of the rows after them is one product. No step is left out where a factor is zero, as
// libraries do: what is infinite or no number reaches all that it counts for, and 0 / 0 is no number.
#include <keyway/backends/cpu/column_major.h>
#include <keyway/backends/cpu/gemm.h>
#include <keyway/backends/cpu/kernels_solving.h>
#include <keyway/backends/cpu/lapack.h>
#include <keyway/core/dtype/visit_dtype.h>

#include <algorithm>

namespace keyway::inline v1::cpu {

namespace {

constexpr std::int64_t kBlock = 32;  // rows

// The triangle that counts, of a matrix that may hold anything beside it.
template <typename T>
struct TriangleOf {
  Matrix<const T> matrix;
  bool is_upper, has_ones;  // on its diagonal

  // The row that is solved after `step` others.
  std::int64_t row(std::int64_t step) const { return is_upper ? matrix.rows - 1 - step : step; }
  // x of that row, from what its right side has come to.
  T solution(std::int64_t i, T side) const { return has_ones ? side : side / *matrix.at(i, i); }
};

// Right sides that are dense columns, one after the other.
template <typename T>
void solve_columns(const TriangleOf<T>& triangle, const Matrix<T>& sides) {
  const std::int64_t n = sides.rows, next = triangle.matrix.row_stride;
  for (std::int64_t c = 0; c < sides.columns; ++c) {
    T* const x = sides.at(0, c);
    for (std::int64_t step = 0; step < n; ++step) {
      const std::int64_t j = triangle.row(step);
      const T found = x[j] = triangle.solution(j, x[j]);
      const std::int64_t first = triangle.is_upper ? 0 : j + 1, last = triangle.is_upper ? j : n;
      const T* const a = triangle.matrix.at(0, j);
      for (std::int64_t i = first; i < last; ++i) x[i] = x[i] - a[i * next] * found;
    }
  }
}

// Right sides whose rows are dense, all at once.
template <typename T>
void solve_rows(const TriangleOf<T>& triangle, const Matrix<T>& sides) {
  const std::int64_t n = sides.rows, apart = sides.column_stride;
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t j = triangle.row(step);
    T* const x = sides.at(j, 0);
    for (std::int64_t c = 0; c < sides.columns; ++c) x[c * apart] = triangle.solution(j, x[c * apart]);
    for (std::int64_t later = step + 1; later < n; ++later) {
      const std::int64_t i = triangle.row(later);
      const T factor = *triangle.matrix.at(i, j);
      T* const y = sides.at(i, 0);
      for (std::int64_t c = 0; c < sides.columns; ++c) y[c * apart] = y[c * apart] - factor * x[c * apart];
    }
  }
}

// In place of the right sides.
template <typename T>
void solve_left(const TriangleOf<T>& triangle, const Matrix<T>& sides) {
  const std::int64_t n = sides.rows, columns = sides.columns;
  for (std::int64_t done = 0; done < n; done += kBlock) {
    const std::int64_t rows = std::min(kBlock, n - done), first = triangle.is_upper ? n - done - rows : done;
    const Matrix<T> here = sides.block(first, 0, rows, columns);
    const TriangleOf<T> corner{triangle.matrix.block(first, first, rows, rows), triangle.is_upper, triangle.has_ones};
    if (here.row_stride == 1) {
      solve_columns(corner, here);
    } else {
      solve_rows(corner, here);
    }
    const std::int64_t left = n - done - rows, next = triangle.is_upper ? 0 : first + rows;
    if (left == 0) continue;
    const Matrix<T> rest = sides.block(next, 0, left, columns);
    gemm(Product<T>{triangle.matrix.block(next, first, left, rows), here, rest, T(-1), T(1), rest});
  }
}

}  // namespace

void linalg_solve_triangular(const TensorBase& self, const TensorBase& B, bool upper, bool left, bool unitriangular,
                             TensorBase& out) {
  if (out.numel() == 0) return;
  const ColumnMajorOut solutions(out);
  const IntArrayRef batch = batch_sizes(out);
  const std::int64_t count = count_of(batch), elements = rows_of(self) * columns_of(self);
  copy_elements(B, solutions.tensor());
  const TensorBase triangles = triangles_for(self, batch);
  const bool is_one_for_all = triangles.numel() == elements;
  const double work = static_cast<double>(out.numel() / count) * static_cast<double>(rows_of(self));
  visit_dtype<lapack::kTypes>(out.dtype(), "linalg_solve_triangular", [&]<typename T>() {
    for_each_problem(count, work, [&](std::int64_t i) {
      Matrix<const T> a = matrix_of<const T>(triangles);
      if (!is_one_for_all) a.data += i * elements;
      const Matrix<T> sides = nth_matrix<T>(solutions.tensor(), i);
      if (left) return solve_left<T>({a, upper, unitriangular}, sides);
      solve_left<T>({a.transposed(), !upper, unitriangular}, sides.transposed());  // X A = B is A^T X^T = B^T
    });
  });
  solutions.finish();
}

}  // namespace keyway::inline v1::cpu
