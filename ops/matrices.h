// What operators of matrices that are made of others share, composites and derivatives.
#pragma once

#include <keyway/core/dtype/scalar_type.h>
#include <keyway/ops/all.h>

#include <limits>

namespace keyway::inline v1 {

// The conjugate transpose: a view of real matrices, a copy of complex ones.
inline Tensor adjoint_of(const Tensor& matrices) {
  const Tensor transposed = matrices.transpose(-2, -1);
  return matrices.is_complex() ? transposed.conj_physical() : transposed;
}

// A view of the elements whose row is their column.
inline Tensor diagonal_of(const Tensor& matrices) { return matrices.diagonal(0, -2, -1); }

// For each matrix the determinant that interchanging its rows by `pivots` gives: 1 or -1, in `dtype`.
inline Tensor parity_of(const Tensor& pivots, ScalarType dtype) {
  const Tensor own = keyway::arange(1, pivots.size(-1) + 1, pivots.options());
  const Tensor interchanged = pivots.ne(own).sum(-1).remainder(2);
  return (1 - 2 * interchanged).to(dtype);
}

// The distance from 1 to the next number of a dtype, or of its parts. Requires: float32 or float64, complex or not.
inline double precision_of(ScalarType dtype) {
  return to_real(dtype) == kDouble ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
}

}  // namespace keyway::inline v1
