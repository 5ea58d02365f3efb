// Rules of decompositions of matrices. Their contracts have seen to it that there are two dimensions, and that
// matrices are square where they must be.
#pragma once

#include <keyway/ops/rules/column_major.h>

#include <algorithm>
#include <array>

namespace keyway::inline v1::rules {

inline std::array<OutputMeta, 2> _linalg_cholesky(const TensorBase& A, bool) {
  return {meta_column_major(A.sizes()), meta_of(batch_sizes(A))};
}

inline std::array<OutputMeta, 3> _linalg_lu(const TensorBase& A, bool) {
  const IntArrayRef batch = batch_sizes(A);
  return {meta_column_major(A.sizes()), meta_of(sizes_with(batch, {std::min(rows_of(A), columns_of(A))})),
          meta_of(batch)};
}

inline OutputMeta _pivots_to_permutation(const TensorBase& pivots, std::int64_t size) {
  return meta_of(sizes_with(pivots.sizes().slice(0, pivots.sizes().size() - 1), {size}));
}

inline std::array<OutputMeta, 2> geqrf(const TensorBase& self) {
  return {meta_column_major(self.sizes()),
          meta_of(sizes_with(batch_sizes(self), {std::min(rows_of(self), columns_of(self))}))};
}

inline std::array<OutputMeta, 3> _linalg_eigh(const TensorBase& A, bool, bool compute_v) {
  const IntArrayRef batch = batch_sizes(A);
  return {meta_of(sizes_with(batch, {rows_of(A)})), compute_v ? meta_column_major(A.sizes()) : meta_of({0}),
          meta_of(batch)};
}

inline std::array<OutputMeta, 3> _linalg_eig(const TensorBase& A, bool compute_v) {
  return _linalg_eigh(A, false, compute_v);
}

inline std::array<OutputMeta, 4> _linalg_svd(const TensorBase& A, bool full_matrices, bool compute_uv) {
  const IntArrayRef batch = batch_sizes(A);
  const std::int64_t m = rows_of(A), n = columns_of(A), rank = std::min(m, n);
  const auto vectors = [&](std::int64_t rows, std::int64_t columns) {
    return compute_uv ? meta_column_major(sizes_with(batch, {rows, columns})) : meta_of({0});
  };
  return {vectors(m, full_matrices ? m : rank), meta_of(sizes_with(batch, {rank})),
          vectors(full_matrices ? n : rank, n), meta_of(batch)};
}

}  // namespace keyway::inline v1::rules
