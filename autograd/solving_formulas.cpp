#include <keyway/autograd/decomposition_formulas.h>
#include <keyway/core/thread_state.h>
#include <keyway/ops/matrices.h>

namespace keyway::inline v1::autograd {

namespace {

// The gradient of A in A X = B, or X A = B, by that of B.
Tensor of_matrix(const Tensor& grad_B, const Tensor& result, bool left) {
  return left ? -grad_B.matmul(adjoint_of(result)) : -adjoint_of(result).matmul(grad_B);
}

// Batches of n x n, a number for each matrix on its diagonal.
Tensor multiples_of_identity(const Tensor& numbers, std::int64_t n, const TensorOptions& options) {
  return numbers.unsqueeze(-1).unsqueeze(-1) * keyway::eye(n, options);
}

}  // namespace

// d det = det tr(A^-1 dA), so the gradient is grad conj(det) A^-H. Of a singular A that is the matrix of cofactors,
// which is continuous: what is 0 on U's diagonal is moved a little.
Tensor linalg_det_backward(const Tensor& grad, const Tensor& A, const Tensor& det, const Tensor& LU,
                           const Tensor& pivots) {
  const std::int64_t n = A.size(-1);
  if (grad_enabled()) {
    return keyway::linalg_solve(adjoint_of(A), multiples_of_identity(grad * det.conj_physical(), n, A.options()));
  }
  const Tensor diagonal = diagonal_of(LU);
  const Tensor moved = keyway::where(diagonal.eq(0), precision_of(LU.dtype()), diagonal);
  const Tensor near_det = moved.prod(-1) * parity_of(pivots, LU.dtype());
  return keyway::linalg_lu_solve(LU.diagonal_scatter(moved, 0, -2, -1), pivots,
                                 multiples_of_identity(grad * near_det.conj_physical(), n, LU.options()),
                                 /*left=*/true, /*adjoint=*/true);
}

// d A^-1 = -A^-1 dA A^-1.
Tensor linalg_inv_backward(const Tensor& grad, const Tensor& inverse) {
  const Tensor adjoint = adjoint_of(inverse);
  return -adjoint.matmul(grad).matmul(adjoint);
}

// The exponential of [[A^H, G], [0, A^H]] has in its corner what a change of A^H by G changes in that of A^H (Al-Mohy
// and Higham, "Computing the Frechet derivative of the matrix exponential", 2009), which is its own adjoint.
Tensor linalg_matrix_exp_backward(const Tensor& grad, const Tensor& self) {
  const std::int64_t n = self.size(-1);
  const Tensor adjoint = adjoint_of(self);
  const Tensor above = keyway::cat({adjoint, grad}, -1);
  const Tensor below = keyway::cat({keyway::zeros_like(grad), adjoint}, -1);
  return keyway::linalg_matrix_exp(keyway::cat({above, below}, -2)).narrow(-2, 0, n).narrow(-1, n, n);
}

// dP = -P dA P + P P^H dA^H (I - A P) + (I - P A) dA^H P^H P (Golub and Pereyra, "The differentiation of
// pseudo-inverses and nonlinear least squares problems whose variables separate", 1973), where the rank does not
// change.
Tensor linalg_pinv_backward(const Tensor& grad, const Tensor& A, const Tensor& inverse) {
  const Tensor PH = adjoint_of(inverse), GH = adjoint_of(grad);
  const Tensor rows = GH.matmul(inverse).matmul(PH), columns = PH.matmul(inverse).matmul(GH);
  return (rows - A.matmul(inverse.matmul(rows))) + (columns - columns.matmul(inverse).matmul(A)) -
         PH.matmul(grad).matmul(PH);
}

std::tuple<Tensor, Tensor> linalg_solve_backward(const Tensor& grad, const Tensor& A, const Tensor& result,
                                                 const Tensor& LU, const Tensor& pivots, bool left,
                                                 ArrayRef<bool> needs) {
  // Whoever wants a gradient of the gradient needs it as a function of A.
  const Tensor grad_B = grad_enabled() ? keyway::linalg_solve(adjoint_of(A), grad, left)
                                       : keyway::linalg_lu_solve(LU, pivots, grad, left, /*adjoint=*/true);
  return {needs[0] ? of_matrix(grad_B, result, left) : Tensor(), needs[1] ? grad_B : Tensor()};
}

std::tuple<Tensor, Tensor> linalg_solve_triangular_backward(const Tensor& grad, const Tensor& A, const Tensor& result,
                                                            bool upper, bool left, bool unitriangular,
                                                            ArrayRef<bool> needs) {
  const Tensor grad_B = keyway::linalg_solve_triangular(adjoint_of(A), grad, !upper, left, unitriangular);
  Tensor grad_A;
  if (needs[0]) {
    const Tensor all = of_matrix(grad_B, result, left);
    const int diagonal = unitriangular ? 1 : 0;
    grad_A = upper ? all.triu(diagonal) : all.tril(-diagonal);
  }
  return {grad_A, needs[1] ? grad_B : Tensor()};
}

}  // namespace keyway::inline v1::autograd
