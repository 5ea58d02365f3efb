// Decompositions of matrices: cuSOLVER's, one matrix after the other.
#include <keyway/backends/cuda/driver/each.cuh>
#include <keyway/backends/cuda/kernels/column_major.h>
#include <keyway/backends/cuda/kernels/kernels_decompositions.h>
#include <keyway/backends/cuda/kernels/kernels_triangular.h>
#include <keyway/backends/cuda/kernels/operands.h>
#include <keyway/backends/cuda/kernels/zeros.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/opmath.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace keyway::inline v1::cuda {

namespace {

constexpr DtypeSet kDecomposedTypes{kFloat, kDouble, kComplexFloat, kComplexDouble};

// A row-major tensor for `info`, which is 0 where no algorithm is asked.
ContiguousOut states_for(const TensorBase& info) {
  ContiguousOut states(info);
  if (info.numel() > 0) fill_with_zeros(states.tensor());
  return states;
}

std::int32_t* nth_state(const ContiguousOut& states, std::int64_t i) { return states.data<std::int32_t>() + i; }

// Operands: the permutation, the line of it, the line of pivots. One element of the first for each matrix.
template <typename Index>
struct Interchange {
  static constexpr const char* kElementError = "argument 'pivots' has an element that is no row";
  std::int64_t size, count;

  KEYWAY_HD bool operator()(const Element<2>& element) const {
    std::int64_t* const rows = &element.at<std::int64_t>(0);
    const Index* const pivots = &element.at<const Index>(1);
    bool valid = true;
    for (std::int64_t i = 0; i < size; ++i) rows[i] = i;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t with = static_cast<std::int64_t>(pivots[i]) - 1;
      if (with < 0 || with >= size) {
        valid = false;
        continue;
      }
      const std::int64_t row = rows[i];
      rows[i] = rows[with];
      rows[with] = row;
    }
    return valid;
  }
};

template <typename T>
KEYWAY_HD bool is_finite(const T& value) {
  if constexpr (kIsComplex<T>) {
    return std::isfinite(value.real()) && std::isfinite(value.imag());
  } else {
    return std::isfinite(value);
  }
}

// A number that is infinite, or none, makes its matrix one of zeros and a note, since algorithms may not end with it.
// Operands: the matrices, the note of each.
template <typename T>
struct NoteNotFinite {
  KEYWAY_HD void operator()(const Element<2>& element) const {
    if (is_finite(element.at<const T>(0))) return;
    element.at<T>(0) = T(0);
    element.at<std::int32_t>(1) = -1;
  }
};

// What was computed of a matrix with a note is NaN, or its state is what the note says. Operands: the results, the note
// of each.
template <typename T>
struct SpreadNote {
  T what;

  KEYWAY_HD void operator()(const Element<2>& element) const {
    if (element.at<const std::int32_t>(1) != 0) element.at<T>(0) = what;
  }
};

// A complex eigenvector of a real matrix: of a conjugate pair there are two columns, the real part and the imaginary
// one of the first. Operands: the vectors, the row of such columns, the eigenvalues of the matrix, the column.
template <typename R>
struct JoinPairs {
  std::int64_t step;  // from column to column

  KEYWAY_HD void operator()(const Element<4>& element) const {
    const R* const row = &element.at<const R>(1);
    const std::int64_t j = element.number(3);
    const R imaginary = (&element.at<const complex<R>>(2))[j].imag();
    complex<R>& vector = element.at<complex<R>>(0);
    if (imaginary == 0) {
      vector = complex<R>(row[j * step], 0);
    } else if (imaginary > 0) {
      vector = complex<R>(row[j * step], row[(j + 1) * step]);
    } else {
      vector = complex<R>(row[(j - 1) * step], -row[j * step]);
    }
  }
};

// Operands: the pivots, the row.
struct OwnRow {
  KEYWAY_HD void operator()(const Element<2>& element) const { element.at<std::int64_t>(0) = element.number(1) + 1; }
};

// Operands: the matrices, the row, the column.
template <typename T>
struct Identity {
  KEYWAY_HD void operator()(const Element<3>& element) const {
    element.at<T>(0) = element.number(1) == element.number(2) ? T(1) : T(0);
  }
};

void set_identity(const TensorBase& matrices) {
  if (matrices.numel() == 0) return;
  const std::int64_t rank = matrices.dim();
  visit_dtype<kDecomposedTypes>(matrices.dtype(), "a decomposition", [&]<typename T>() {
    each<3>(ElementSpace(matrices.sizes()).tensor(matrices).coordinate(rank - 2).coordinate(rank - 1).space(),
            Identity<T>{}, matrices.device());
  });
}

// `tensor` with a dimension of size 1 in front of its last `behind` ones.
TensorBase with_dim_before(const TensorBase& tensor, std::size_t behind) {
  DimVector sizes, strides;
  const std::size_t at = tensor.sizes().size() - behind;
  for (std::size_t d = 0; d <= tensor.sizes().size(); ++d) {
    sizes.push_back(d == at ? 1 : tensor.sizes()[d < at ? d : d - 1]);
    strides.push_back(d == at ? 1 : tensor.strides()[d < at ? d : d - 1]);
  }
  return make_view(tensor, IntArrayRef(sizes), IntArrayRef(strides), tensor.storage_offset());
}

// Which matrices of a batch have elements that are infinite or no numbers.
class NotFinite {
 public:
  // Puts zeros in their places. Requires: `matrices` may be written to.
  explicit NotFinite(const TensorBase& matrices)
      : notes_(make_tensor(sizes_with(batch_sizes(matrices), {1}), kInt, matrices.device())) {
    if (notes_.numel() == 0) return;
    fill_with_zeros(notes_);
    if (matrices.numel() == 0) return;
    visit_dtype<kDecomposedTypes>(matrices.dtype(), "a decomposition", [&]<typename T>() {
      each<2>(ElementSpace(matrices.sizes()).tensor(matrices).tensor(with_dim_before(notes_, 0)).space(),
              NoteNotFinite<T>{}, matrices.device());
    });
  }

  void spread_to_matrices(const TensorBase& results) const { spread_nan(results, with_dim_before(notes_, 0)); }
  void spread_to_rows(const TensorBase& results) const { spread_nan(results, notes_); }
  void spread_to_states(const ContiguousOut& states) const {
    const TensorBase all = with_dim_before(states.tensor(), 0);
    if (all.numel() == 0) return;
    each<2>(ElementSpace(all.sizes()).tensor(all).tensor(notes_).space(), SpreadNote<std::int32_t>{-1}, all.device());
  }

 private:
  static void spread_nan(const TensorBase& results, const TensorBase& notes) {
    if (results.numel() == 0) return;
    visit_dtype<kDecomposedTypes>(results.dtype(), "a decomposition", [&]<typename T>() {
      const SpreadNote<T> spread{T(std::numeric_limits<Real<T>>::quiet_NaN())};
      each<2>(ElementSpace(results.sizes()).tensor(results).tensor(notes).space(), spread, results.device());
    });
  }

  TensorBase notes_;  // with a dimension of size 1 behind those of the batch
};

}  // namespace

void _linalg_cholesky(const TensorBase& A, bool upper, TensorBase& L, TensorBase& info) {
  const ContiguousOut states = states_for(info);
  if (L.numel() > 0) {
    const TensorBase factors = column_major_copy(A);
    for (std::int64_t i = 0; i < info.numel(); ++i) {
      cusolver_potrf(upper, nth_matrix(factors, i), nth_state(states, i), A.device());
    }
    if (upper) {
      triu(factors, 0, L);
    } else {
      tril(factors, 0, L);
    }
  }
  states.finish();
}

void _linalg_lu(const TensorBase& A, bool pivot, TensorBase& LU, TensorBase& pivots, TensorBase& info) {
  const ContiguousOut states = states_for(info);
  if (LU.numel() > 0) {
    const ColumnMajorOut factors(LU);
    copy_elements(A, factors.tensor());
    const std::int64_t rank = pivots.sizes().back();
    const TensorBase rows = make_tensor(pivots.sizes(), kLong, A.device());
    if (!pivot) {  // each row with itself
      each<2>(ElementSpace(rows.sizes()).tensor(rows).coordinate(rows.dim() - 1).space(), OwnRow{}, A.device());
    }
    for (std::int64_t i = 0; i < info.numel(); ++i) {
      cusolver_getrf(pivot, nth_matrix(factors.tensor(), i), static_cast<std::int64_t*>(nth_row(rows, i, rank)),
                     nth_state(states, i), A.device());
    }
    copy_elements(rows, pivots);
    factors.finish();
  }
  states.finish();
}

void _pivots_to_permutation(const TensorBase& pivots, std::int64_t size, TensorBase& out) {
  if (out.numel() == 0) return;
  const TensorBase interchanges = contiguous(pivots);
  const ContiguousOut permutations(out);
  const TensorBase& rows = permutations.tensor();
  DimVector batch(rows.sizes());
  batch.back() = 1;
  visit_index(pivots.dtype(), "_pivots_to_permutation", [&]<typename Index>() {
    const std::int64_t last = rows.dim() - 1;
    each<2>(ElementSpace(IntArrayRef(batch)).line(rows, last).line(interchanges, last).space(),
            Interchange<Index>{size, pivots.sizes().back()}, out.device());
  });
  permutations.finish();
}

void geqrf(const TensorBase& self, TensorBase& a, TensorBase& tau) {
  if (tau.numel() == 0) {
    if (a.numel() > 0) copy_elements(self, a);
    return;
  }
  const ColumnMajorOut factors(a);
  const ContiguousOut scales(tau);
  copy_elements(self, factors.tensor());
  const TensorBase states = make_tensor({1}, kInt, self.device());  // whose arguments are right
  const std::int64_t rank = tau.sizes().back();
  for (std::int64_t i = 0; i < tau.numel() / rank; ++i) {
    cusolver_geqrf(nth_matrix(factors.tensor(), i), nth_row(scales.tensor(), i, rank), states.data_ptr<std::int32_t>(),
                   self.device());
  }
  factors.finish();
  scales.finish();
}

void _linalg_eigh(const TensorBase& A, bool upper, bool compute_v, TensorBase& eigenvalues, TensorBase& eigenvectors,
                  TensorBase& info) {
  const ContiguousOut states = states_for(info), values(eigenvalues);
  if (A.numel() > 0) {
    // Vectors are written where the matrix was. The triangle that is not read may hold anything.
    TensorBase matrices = make_column_major(A.sizes(), A.dtype(), A.device());
    if (upper) {
      triu(A, 0, matrices);
    } else {
      tril(A, 0, matrices);
    }
    const NotFinite strange(matrices);
    for (std::int64_t i = 0; i < info.numel(); ++i) {
      cusolver_syevd(upper, compute_v, nth_matrix(matrices, i), nth_row(values.tensor(), i, rows_of(A)),
                     nth_state(states, i), A.device());
    }
    strange.spread_to_rows(values.tensor());
    strange.spread_to_states(states);
    if (compute_v) {
      strange.spread_to_matrices(matrices);
      copy_elements(matrices, eigenvectors);
    }
  }
  values.finish();
  states.finish();
}

void _linalg_eig(const TensorBase& A, bool compute_v, TensorBase& eigenvalues, TensorBase& eigenvectors,
                 TensorBase& info) {
  const ContiguousOut states = states_for(info), values(eigenvalues);
  if (A.numel() > 0) {
    const TensorBase matrices = column_major_copy(A);
    const NotFinite strange(matrices);
    const TensorBase vectors =
        compute_v ? make_column_major(A.sizes(), A.dtype(), A.device()) : TensorBase();  // of A's dtype
    for (std::int64_t i = 0; i < info.numel(); ++i) {
      cusolver_geev(nth_matrix(matrices, i), nth_row(values.tensor(), i, rows_of(A)),
                    compute_v ? nth_matrix(vectors, i).data : nullptr, nth_state(states, i), A.device());
    }
    if (compute_v && is_complex(A.dtype())) copy_elements(vectors, eigenvectors);
    if (compute_v && !is_complex(A.dtype())) {
      const std::int64_t last = A.dim() - 1;
      const IterationSpace space = ElementSpace(A.sizes())
                                       .tensor(eigenvectors)
                                       .line(vectors, last)
                                       .line(with_dim_before(values.tensor(), 1), last)
                                       .coordinate(last)
                                       .space();
      visit_dtype<DtypeSet{kFloat, kDouble}>(
          A.dtype(), "_linalg_eig", [&]<typename R>() { each<4>(space, JoinPairs<R>{rows_of(A)}, A.device()); });
    }
    strange.spread_to_rows(values.tensor());
    strange.spread_to_states(states);
    if (compute_v) strange.spread_to_matrices(eigenvectors);
  }
  values.finish();
  states.finish();
}

// cuSOLVER takes no matrices with more columns than rows: it gets their transposes, whose vectors are the transposes of
// these.
void _linalg_svd(const TensorBase& A, bool full_matrices, bool compute_uv, TensorBase& U, TensorBase& S, TensorBase& Vh,
                 TensorBase& info) {
  const ContiguousOut states = states_for(info), values(S);
  if (A.numel() == 0) {
    if (compute_uv) {
      set_identity(U);
      set_identity(Vh);
    }
    return states.finish();
  }
  const bool is_wide = columns_of(A) > rows_of(A);
  const TensorBase matrices = column_major_copy(is_wide ? transposed(A) : A);
  const NotFinite strange(matrices);
  const IntArrayRef batch = batch_sizes(A);
  const std::int64_t rows = rows_of(matrices), rank = columns_of(matrices);
  TensorBase left, right;
  if (compute_uv) {
    left = make_column_major(sizes_with(batch, {rows, full_matrices ? rows : rank}), A.dtype(), A.device());
    right = make_column_major(sizes_with(batch, {rank, rank}), A.dtype(), A.device());
  }
  for (std::int64_t i = 0; i < info.numel(); ++i) {
    cusolver_gesvd(nth_matrix(matrices, i), nth_row(values.tensor(), i, rank),
                   compute_uv ? nth_matrix(left, i) : DeviceMatrix{A.dtype()},
                   compute_uv ? nth_matrix(right, i) : DeviceMatrix{A.dtype()}, nth_state(states, i), A.device());
  }
  strange.spread_to_rows(values.tensor());
  strange.spread_to_states(states);
  if (compute_uv) {
    strange.spread_to_matrices(left);
    strange.spread_to_matrices(right);
    copy_elements(is_wide ? transposed(right) : left, U);
    copy_elements(is_wide ? transposed(left) : right, Vh);
  }
  values.finish();
  states.finish();
}

}  // namespace keyway::inline v1::cuda
