// Kernels of eigenvalues and singular values: LAPACK's.
#include <keyway/backends/cpu/column_major.h>
#include <keyway/backends/cpu/kernels_decompositions.h>
#include <keyway/backends/cpu/lapack.h>
#include <keyway/backends/cpu/operands.h>
#include <keyway/core/dtype/visit_dtype.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace keyway::inline v1::cpu {

namespace {

// What `info` says of a matrix with elements that are no numbers, or infinite: no algorithm is asked.
constexpr std::int32_t kNotFinite = -1;

template <typename T>
bool is_finite(const T& value) {
  if constexpr (kIsComplex<T>) {
    return std::isfinite(value.real()) && std::isfinite(value.imag());
  } else {
    return std::isfinite(value);
  }
}

template <typename T>
bool is_finite(const Matrix<T>& a) {
  return std::all_of(a.data, a.data + a.rows * a.columns, [](const T& value) { return is_finite(value); });
}

// Of one triangle with its diagonal.
template <typename T>
bool is_finite(const Matrix<T>& a, lapack::Triangle triangle) {
  for (std::int64_t j = 0; j < a.columns; ++j) {
    const bool upper = triangle == lapack::Triangle::Upper;
    const T* const column = a.data + j * a.rows;
    if (!std::all_of(column + (upper ? 0 : j), column + (upper ? j + 1 : a.rows),
                     [](const T& value) { return is_finite(value); })) {
      return false;
    }
  }
  return true;
}

template <typename T>
void fill_nan(T* values, std::int64_t count) {
  std::fill_n(values, count, T(std::numeric_limits<Real<T>>::quiet_NaN()));
}

// Some times n^3 operations.
double spectral_work(const TensorBase& matrices) {
  const auto m = static_cast<double>(rows_of(matrices)), n = static_cast<double>(columns_of(matrices));
  return 10 * m * n * std::min(m, n);
}

template <typename T>
void set_identity(Matrix<T> a) {
  std::fill_n(a.data, a.rows * a.columns, T(0));
  for (std::int64_t i = 0; i < std::min(a.rows, a.columns); ++i) *a.at(i, i) = T(1);
}

// Results of a batch, the vectors of which may not be wanted.
class VectorsOut {
 public:
  VectorsOut(bool wanted, const TensorBase& out) {
    if (wanted) target_.emplace(out);
  }
  // The i-th matrix; one without data where none is wanted.
  template <typename T>
  Matrix<T> nth(std::int64_t i) const {
    return target_ ? nth_matrix<T>(target_->tensor(), i) : Matrix<T>{};
  }
  void finish() const {
    if (target_) target_->finish();
  }

 private:
  std::optional<ColumnMajorOut> target_;
};

template <typename T>
std::int32_t eigh(lapack::Triangle triangle, bool vectors, Matrix<T> a, Real<T>* values) {
  if (a.rows == 0) return 0;
  if (is_finite(a, triangle)) return lapack::syevd(triangle, vectors, a, values);
  fill_nan(values, a.rows);
  fill_nan(a.data, a.rows * a.columns);
  return kNotFinite;
}

template <typename T>
std::int32_t eig(Matrix<T> a, complex<Real<T>>* values, complex<Real<T>>* vectors) {
  if (a.rows == 0) return 0;
  if (is_finite(a)) return lapack::geev(a, values, vectors);
  fill_nan(values, a.rows);
  if (vectors != nullptr) fill_nan(vectors, a.rows * a.columns);
  return kNotFinite;
}

template <typename T>
std::int32_t svd(Matrix<T> a, Matrix<T> u, Real<T>* s, Matrix<T> vh) {
  const std::int64_t rank = std::min(a.rows, a.columns);
  if (rank == 0) {
    set_identity(u);
    set_identity(vh);
    return 0;
  }
  if (is_finite(a)) return lapack::gesdd(a, s, u, vh);
  fill_nan(s, rank);
  fill_nan(u.data, u.rows * u.columns);
  fill_nan(vh.data, vh.rows * vh.columns);
  return kNotFinite;
}

}  // namespace

void _linalg_eigh(const TensorBase& A, bool upper, bool compute_v, TensorBase& eigenvalues, TensorBase& eigenvectors,
                  TensorBase& info) {
  // Vectors are written where the matrix was.
  const ColumnMajorOut matrices(compute_v ? eigenvectors : make_column_major(A.sizes(), A.dtype(), A.device()));
  const ContiguousOut values(eigenvalues), states(info);
  copy_elements(A, matrices.tensor());
  visit_dtype<lapack::kTypes>(A.dtype(), "_linalg_eigh", [&]<typename T>() {
    for_each_problem(info.numel(), spectral_work(A), [&](std::int64_t i) {
      states.data<std::int32_t>()[i] = eigh(lapack::triangle(upper), compute_v, nth_matrix<T>(matrices.tensor(), i),
                                            values.data<Real<T>>() + i * rows_of(A));
    });
  });
  matrices.finish();
  values.finish();
  states.finish();
}

void _linalg_eig(const TensorBase& A, bool compute_v, TensorBase& eigenvalues, TensorBase& eigenvectors,
                 TensorBase& info) {
  const TensorBase matrices = column_major_copy(A);
  const VectorsOut vectors(compute_v, eigenvectors);
  const ContiguousOut values(eigenvalues), states(info);
  visit_dtype<lapack::kTypes>(A.dtype(), "_linalg_eig", [&]<typename T>() {
    using Z = complex<Real<T>>;
    for_each_problem(info.numel(), spectral_work(A), [&](std::int64_t i) {
      states.data<std::int32_t>()[i] =
          eig(nth_matrix<T>(matrices, i), values.data<Z>() + i * rows_of(A), vectors.nth<Z>(i).data);
    });
  });
  vectors.finish();
  values.finish();
  states.finish();
}

void _linalg_svd(const TensorBase& A, bool, bool compute_uv, TensorBase& U, TensorBase& S, TensorBase& Vh,
                 TensorBase& info) {
  const TensorBase matrices = column_major_copy(A);
  const VectorsOut left(compute_uv, U), right(compute_uv, Vh);
  const ContiguousOut values(S), states(info);
  const std::int64_t rank = S.sizes().back();
  visit_dtype<lapack::kTypes>(A.dtype(), "_linalg_svd", [&]<typename T>() {
    for_each_problem(info.numel(), spectral_work(A), [&](std::int64_t i) {
      states.data<std::int32_t>()[i] =
          svd(nth_matrix<T>(matrices, i), left.nth<T>(i), values.data<Real<T>>() + i * rank, right.nth<T>(i));
    });
  });
  left.finish();
  right.finish();
  values.finish();
  states.finish();
}

}  // namespace keyway::inline v1::cpu
