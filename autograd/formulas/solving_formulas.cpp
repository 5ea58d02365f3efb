#include <keyway/autograd/helpers_solving.h>
#include <keyway/autograd/helpers_unary.h>
#include <keyway/core/keys/thread_state.h>
#include <keyway/ops/matrices.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

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

// The sum of the elements on the diagonal, of each matrix of a batch.
Tensor trace_of(const Tensor& A) { return A.diagonal(0, -2, -1).sum(-1); }

// The adjugate of a k x k matrix, by the recursion of Faddeev and LeVerrier, which divides by numbers up to k alone.
// Its errors are those of powers of S: for matrices that are small in both senses.
Tensor adjugate_of(const Tensor& S) {
  const std::int64_t k = S.size(-1);
  const Tensor identity = keyway::eye(k, S.options());
  Tensor sum = identity;
  for (std::int64_t j = 1; j < k; ++j) {
    const Tensor product = S.matmul(sum);
    sum = product - trace_of(product) / j * identity;
  }
  return k % 2 == 0 ? -sum : sum;
}

// d det / d A of an n x n matrix that may be singular, as a function that has derivatives of every order. Along
// constant bases of its singular vectors A is a block matrix [[K, L], [M, N]] in which K alone counts: what is left
// without it is S = N - M K^-1 L, and det A is det K det S times the determinants of the bases. What has the adjugate
// of S in it is a polynomial, and K has an inverse.
Tensor cofactors_of(const Tensor& A) {
  const std::int64_t n = A.size(-1);
  Tensor left, right, sizes, sign;  // A = left diag(sizes) right
  {
    const NoGradGuard constant;
    std::tie(left, sizes, right) = keyway::linalg_svd(A.detach(), /*full_matrices=*/false);
    sign = keyway::linalg_det(left) * keyway::linalg_det(right);
  }
  const double bound = std::sqrt(precision_of(A.dtype())) * sizes.amax().item().to<double>();
  const auto rank = std::min((sizes > bound).sum().item().to<std::int64_t>(), n - 1);
  const Tensor B = adjoint_of(left).matmul(A).matmul(adjoint_of(right));
  const Tensor N = B.narrow(0, rank, n - rank).narrow(1, rank, n - rank);
  Tensor of_B;
  if (rank == 0) {
    of_B = adjugate_of(N).transpose(0, 1);
  } else {
    const Tensor K = B.narrow(0, 0, rank).narrow(1, 0, rank);
    const Tensor X = keyway::linalg_solve(K, B.narrow(0, 0, rank).narrow(1, rank, n - rank));         // K^-1 L
    const Tensor Y = keyway::linalg_solve(K, B.narrow(0, rank, n - rank).narrow(1, 0, rank), false);  // M K^-1
    const Tensor S = N - Y.matmul(K).matmul(X), adjugate = adjugate_of(S),
                 det_S = trace_of(S.matmul(adjugate)) / (n - rank);
    const Tensor C = adjugate.transpose(0, 1), XT = X.transpose(0, 1), YT = Y.transpose(0, 1);
    const Tensor of_K = YT.matmul(C).matmul(XT) + det_S * keyway::linalg_inv(K).transpose(0, 1);
    of_B = keyway::linalg_det(K) *
           keyway::cat({keyway::cat({of_K, -YT.matmul(C)}, 1), keyway::cat({-C.matmul(XT), C}, 1)}, 0);
  }
  return sign * conj(left).matmul(of_B).matmul(conj(right));
}

// Whether a matrix of a batch is singular or nearly so, as far as U's diagonal tells. False where values cannot be
// asked for.
bool any_is_nearly_singular(const Tensor& LU) {
  if (LU.is_meta() || LU.key_set().has(Functionality::Batched) || LU.numel() == 0) return false;
  const NoGradGuard constant;
  const Tensor pivots = diagonal_of(LU.detach()).abs();
  return (pivots.amin(-1) <= std::sqrt(precision_of(LU.dtype())) * pivots.amax(-1)).any().item().to<bool>();
}

}  // namespace

// d det = det tr(A^-1 dA), so the gradient is grad conj(det) A^-H. Of a singular A that is the matrix of cofactors,
// which is continuous: what is 0 on U's diagonal is moved a little. Where the gradient is to have one, that would not
// do.
Tensor linalg_det_backward(const Tensor& grad, const Tensor& A, const Tensor& det, const Tensor& LU,
                           const Tensor& pivots) {
  const std::int64_t n = A.size(-1);
  if (grad_enabled() && any_is_nearly_singular(LU)) {
    std::vector<Tensor> cofactors;
    for (const Tensor& matrix : A.reshape({-1, n, n}).unbind(0)) cofactors.push_back(cofactors_of(matrix));
    return grad.unsqueeze(-1).unsqueeze(-1) * conj(keyway::stack(cofactors)).reshape(A.sizes());
  }
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
