// The kernel of equations with triangles: LAPACK's, or rather that of the BLAS below it.
#include <keyway/backends/cpu/column_major.h>
#include <keyway/backends/cpu/kernels_solving.h>
#include <keyway/backends/cpu/lapack.h>
#include <keyway/core/dtype/visit_dtype.h>

namespace keyway::inline v1::cpu {

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
      lapack::trsm(left, lapack::triangle(upper), unitriangular, a, nth_matrix<T>(solutions.tensor(), i));
    });
  });
  solutions.finish();
}

}  // namespace keyway::inline v1::cpu
