// Equations with triangles, a few rows at a time: those of a block of the diagonal are solved one after the other, by a
// thread for each right side; what they say of the rows after them is one product.
#include <keyway/backends/cuda/driver/each.cuh>
#include <keyway/backends/cuda/kernels/column_major.h>
#include <keyway/backends/cuda/kernels/kernels_solving.h>
#include <keyway/backends/cuda/kernels/multiply.h>
#include <keyway/core/dtype/visit_dtype.h>

#include <algorithm>

namespace keyway::inline v1::cuda {

namespace {

constexpr DtypeSet kTriangleTypes{kFloat, kDouble, kComplexFloat, kComplexDouble};
constexpr std::int64_t kBlock = 32;  // rows

// Operands: a right side, which its solution replaces, from its first row on; the first element of the triangle.
template <typename T>
struct SolveBlock {
  std::int64_t rows;
  std::int64_t side_step;              // from row to row of the right side
  std::int64_t row_step, column_step;  // of the triangle
  bool upper, unit;

  KEYWAY_HD void operator()(const Element<2>& element) const {
    T* const side = &element.at<T>(0);
    const T* const triangle = &element.at<const T>(1);
    for (std::int64_t step = 0; step < rows; ++step) {
      const std::int64_t i = upper ? rows - 1 - step : step;
      T sum = side[i * side_step];
      for (std::int64_t done = 0; done < step; ++done) {
        const std::int64_t j = upper ? rows - 1 - done : done;
        sum = sum - triangle[i * row_step + j * column_step] * side[j * side_step];
      }
      side[i * side_step] = unit ? sum : sum / triangle[i * row_step + i * column_step];
    }
  }
};

// Rows [first, first + rows) and columns of a batch of matrices.
TensorBase block(const TensorBase& matrices, std::int64_t first_row, std::int64_t rows, std::int64_t first_column,
                 std::int64_t columns) {
  const IntArrayRef strides = matrices.strides();
  return make_view(matrices, {matrices.sizes()[0], rows, columns}, strides,
                   matrices.storage_offset() + first_row * strides[1] + first_column * strides[2]);
}

// [batch, ...] of all dimensions but the last two. Requires: they can be one.
TensorBase flat(const TensorBase& matrices, std::int64_t count) {
  const IntArrayRef sizes = matrices.sizes(), strides = matrices.strides();
  const std::size_t last = sizes.size() - 2;
  const std::int64_t step = sizes[last] * sizes[last + 1];
  return make_view(matrices, {count, sizes[last], sizes[last + 1]},
                   {count_of(batch_sizes(matrices)) == 1 ? 0 : step, strides[last], strides[last + 1]},
                   matrices.storage_offset());
}

// In place of the right sides. All are [batch, rows, columns].
void solve_left(const TensorBase& triangle, const TensorBase& sides, bool upper, bool unit) {
  const std::int64_t n = sides.sizes()[1], columns = sides.sizes()[2];
  for (std::int64_t done = 0; done < n; done += kBlock) {
    const std::int64_t rows = std::min(kBlock, n - done), first = upper ? n - done - rows : done;
    const TensorBase here = block(sides, first, rows, 0, columns), a = block(triangle, first, rows, first, rows);
    // One element for each right side: the first of its rows.
    const TensorBase tops = block(here, 0, 1, 0, columns), corners = block(a, 0, 1, 0, 1);
    visit_dtype<kTriangleTypes>(sides.dtype(), "linalg_solve_triangular", [&]<typename T>() {
      each<2>(ElementSpace(tops.sizes()).tensor(tops).tensor(corners).space(),
              SolveBlock<T>{rows, here.strides()[1], a.strides()[1], a.strides()[2], upper, unit}, sides.device());
    });
    const std::int64_t left = n - done - rows, next = upper ? 0 : first + rows;
    if (left == 0) continue;
    const TensorBase rest = block(sides, next, left, 0, columns);
    multiply({block(triangle, next, left, first, rows), here, rest, -1, 1, rest});
  }
}

}  // namespace

void linalg_solve_triangular(const TensorBase& self, const TensorBase& B, bool upper, bool left, bool unitriangular,
                             TensorBase& out) {
  if (out.numel() == 0) return;
  const ColumnMajorOut solutions(out);
  copy_elements(B, solutions.tensor());
  const std::int64_t count = count_of(batch_sizes(out));
  const TensorBase triangles = flat(triangles_for(self, batch_sizes(out)), count);
  const TensorBase sides = flat(solutions.tensor(), count);
  if (left) {
    solve_left(triangles, sides, upper, unitriangular);
  } else {  // X A = B is A^T X^T = B^T
    solve_left(transposed(triangles), transposed(sides), !upper, unitriangular);
  }
  solutions.finish();
}

}  // namespace keyway::inline v1::cuda
