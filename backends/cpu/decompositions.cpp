// Kernels of decompositions in triangles and reflectors: LAPACK's.
#include <keyway/backends/cpu/column_major.h>
#include <keyway/backends/cpu/kernels_decompositions.h>
#include <keyway/backends/cpu/lapack.h>
#include <keyway/backends/cpu/operands.h>
#include <keyway/core/dtype/visit_dtype.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace keyway::inline v1::cpu {

namespace {

using lapack::kTypes;
using lapack::triangle;
using lapack::Triangle;

// Operations of a decomposition of m x n, about.
double cubic_work(const TensorBase& matrices) {
  const auto m = static_cast<double>(rows_of(matrices)), n = static_cast<double>(columns_of(matrices));
  return m * n * std::min(m, n);
}

// Zeros in the triangle without the diagonal that is not `kept`.
template <typename T>
void clear_other(Triangle kept, const Matrix<T>& a) {
  for (std::int64_t j = 0; j < a.columns; ++j) {
    T* const column = a.at(0, j);
    const bool clears_above = kept == Triangle::Lower;
    std::fill(column + (clears_above ? 0 : j + 1), column + (clears_above ? j : a.rows), T(0));
  }
}

template <typename T>
bool is_empty(const Matrix<T>& a) {
  return a.rows == 0 || a.columns == 0;
}

}  // namespace

void _linalg_cholesky(const TensorBase& A, bool upper, TensorBase& L, TensorBase& info) {
  const ColumnMajorOut factors(L);
  const ContiguousOut states(info);
  copy_elements(A, factors.tensor());
  visit_dtype<kTypes>(A.dtype(), "_linalg_cholesky", [&]<typename T>() {
    for_each_problem(info.numel(), cubic_work(A), [&](std::int64_t i) {
      const Matrix<T> matrix = nth_matrix<T>(factors.tensor(), i);
      states.data<std::int32_t>()[i] = is_empty(matrix) ? 0 : lapack::potrf(triangle(upper), matrix);
      clear_other(triangle(upper), matrix);
    });
  });
  factors.finish();
  states.finish();
}

void _linalg_lu(const TensorBase& A, bool pivot, TensorBase& LU, TensorBase& pivots, TensorBase& info) {
  KEYWAY_CHECK_AS(NotImplemented, pivot, "there is no decomposition without pivoting on the CPU");
  const ColumnMajorOut factors(LU);
  const ContiguousOut rows(pivots), states(info);
  copy_elements(A, factors.tensor());
  const std::int64_t rank = pivots.sizes().back();
  visit_dtype<kTypes>(A.dtype(), "_linalg_lu", [&]<typename T>() {
    for_each_problem(info.numel(), cubic_work(A), [&](std::int64_t i) {
      const Matrix<T> matrix = nth_matrix<T>(factors.tensor(), i);
      states.data<std::int32_t>()[i] =
          is_empty(matrix) ? 0 : lapack::getrf(matrix, rows.data<std::int32_t>() + i * rank);
    });
  });
  factors.finish();
  rows.finish();
  states.finish();
}

void _pivots_to_permutation(const TensorBase& pivots, std::int64_t size, TensorBase& out) {
  const TensorBase interchanges = contiguous(pivots);
  const ContiguousOut permutations(out);
  const std::int64_t count = pivots.sizes().back();
  const std::int64_t batch = count_of(pivots.sizes().slice(0, pivots.sizes().size() - 1));
  visit_index(pivots.dtype(), "_pivots_to_permutation", [&]<typename Index>() {
    const Index* all = interchanges.data_ptr<Index>();
    for (std::int64_t i = 0; i < batch; ++i) {
      std::int64_t* const rows = permutations.data<std::int64_t>() + i * size;
      std::iota(rows, rows + size, std::int64_t{0});
      for (std::int64_t row = 0; row < count; ++row) {
        const std::int64_t with = *all++;
        KEYWAY_CHECK(with >= 1 && with <= size, "pivot {} is {}, but the rows are 1 to {}", row, with, size);
        std::swap(rows[row], rows[with - 1]);
      }
    }
  });
  permutations.finish();
}

void geqrf(const TensorBase& self, TensorBase& a, TensorBase& tau) {
  const ColumnMajorOut factors(a);
  const ContiguousOut scales(tau);
  copy_elements(self, factors.tensor());
  const std::int64_t rank = tau.sizes().back();
  visit_dtype<kTypes>(self.dtype(), "geqrf", [&]<typename T>() {
    for_each_problem(rank == 0 ? 0 : count_of(batch_sizes(self)), cubic_work(self), [&](std::int64_t i) {
      lapack::geqrf(nth_matrix<T>(factors.tensor(), i), scales.data<T>() + i * rank);
    });
  });
  factors.finish();
  scales.finish();
}

}  // namespace keyway::inline v1::cpu
