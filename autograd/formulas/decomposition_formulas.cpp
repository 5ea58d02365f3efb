// Sources: Giles, "An extended collection of matrix derivative results for forward and reverse mode algorithmic
// differentiation", 2008; for complex matrices Boeddeker et al., "On the computation of complex-valued gradients",
// 2017, and Wan and Zhang, "Automatic differentiation for complex valued SVD", 2019; for wide and tall matrices Walter,
// Lehmann and Lamour, "On evaluating higher-order derivatives of the QR decomposition", 2012.
#include <keyway/autograd/helpers_decompositions.h>
#include <keyway/core/base/error.h>
#include <keyway/ops/matrices.h>

#include <algorithm>

namespace keyway::inline v1::autograd {

namespace {

Tensor product(const Tensor& a, const Tensor& b) { return a.matmul(b); }
Tensor product(const Tensor& a, const Tensor& b, const Tensor& c) { return a.matmul(b).matmul(c); }

// a + b, where undefined stands for zero.
Tensor sum_of(const Tensor& a, const Tensor& b) { return !a.defined() ? b : b.defined() ? a + b : a; }

// Columns of matrices by numbers, and rows.
Tensor columns_times(const Tensor& a, const Tensor& numbers) { return a * numbers.unsqueeze(-2); }
Tensor rows_times(const Tensor& numbers, const Tensor& a) { return numbers.unsqueeze(-1) * a; }

// `a` with ones, or other numbers, on its diagonal.
Tensor with_diagonal(const Tensor& a, const Tensor& numbers) { return a.diagonal_scatter(numbers, 0, -2, -1); }
Tensor with_ones(const Tensor& a) { return with_diagonal(a, keyway::ones_like(diagonal_of(a))); }

// element (i, j): numbers[j] - numbers[i]; 1 on the diagonal.
Tensor differences(const Tensor& numbers) { return with_ones(numbers.unsqueeze(-2) - numbers.unsqueeze(-1)); }

// A complex vector may be turned in the plane of complex numbers by any angle, and libraries choose one: a gradient of
// what depends on it is none. `turns`: how much a small turn of each vector changes the result.
void check_angles(const Tensor& turns, std::string_view vectors) {
  if (turns.is_meta()) return;
  KEYWAY_CHECK_AS(Autograd, turns.detach().abs().le(1e-2).all().item().to<bool>(),
                  "the {} of complex matrices are determined but for their angles in the complex plane; what was "
                  "computed of them depends on these, and has no gradient",
                  vectors);
}

Tensor solve_upper(const Tensor& U, const Tensor& b, bool left = true, bool unit = false) {
  return keyway::linalg_solve_triangular(U, b, /*upper=*/true, left, unit);
}

}  // namespace

// dL = L phi(L^-1 dA L^-H), phi taking the lower triangle with half of the diagonal; the gradient is Hermitian, as A
// is.
Tensor linalg_cholesky_backward(const Tensor& grad, const Tensor& L, bool upper) {
  const Tensor lower = upper ? adjoint_of(L) : L, grad_lower = upper ? adjoint_of(grad) : grad;
  const Tensor phi = product(adjoint_of(lower), grad_lower).tril();
  const Tensor halved = with_diagonal(phi, diagonal_of(phi) * 0.5);
  const Tensor left = solve_upper(adjoint_of(lower), halved);
  const Tensor both = keyway::linalg_solve_triangular(lower, left, /*upper=*/false, /*left=*/false);
  return (both + adjoint_of(both)) * 0.5;
}

// With P^T A = L U, and of wide or tall matrices the square part first:
//   L^-1 P^T dA U^-1 = L^-1 dL + dU U^-1, the first of which is strictly lower, the second upper.
Tensor linalg_lu_backward(const Tensor& grad, const Tensor& LU, const Tensor& pivots) {
  const std::int64_t m = LU.size(-2), n = LU.size(-1), rank = std::min(m, n);
  const auto [P, L, U] = keyway::lu_unpack(LU, pivots, true, true);
  const Tensor L1 = L.narrow(-2, 0, rank), U1 = U.narrow(-1, 0, rank);
  const Tensor grad_L = grad.narrow(-1, 0, rank).tril(-1), grad_U = grad.narrow(-2, 0, rank).triu();
  const Tensor grad_L1 = grad_L.narrow(-2, 0, rank), grad_U1 = grad_U.narrow(-1, 0, rank);
  const Tensor L1H = adjoint_of(L1), U1H = adjoint_of(U1);

  Tensor for_L = product(L1H, grad_L1), for_U = product(grad_U1, U1H);
  if (n > m) for_L = for_L - product(grad_U.narrow(-1, m, n - m), adjoint_of(U.narrow(-1, m, n - m)));
  if (m > n) for_U = for_U - product(adjoint_of(L.narrow(-2, n, m - n)), grad_L.narrow(-2, n, m - n));
  const auto times_U_inverse = [&](const Tensor& a) {
    return keyway::linalg_solve_triangular(U1H, a, /*upper=*/false, /*left=*/false);
  };
  const auto times_L_inverse = [&](const Tensor& a) { return solve_upper(L1H, a, /*left=*/true, /*unit=*/true); };

  Tensor result = times_U_inverse(times_L_inverse(for_L.tril(-1) + for_U.triu()));
  if (n > m) result = keyway::cat({result, times_L_inverse(grad_U.narrow(-1, m, n - m))}, -1);
  if (m > n) result = keyway::cat({result, times_U_inverse(grad_L.narrow(-2, n, m - n))}, -2);
  return product(P, result);
}

// The gradient of A = Q R with a square R is (grad_Q + Q S) R^-H, S being Hermitian with the upper triangle of
// grad_R R^H - Q^H grad_Q. Of a wide A the rest R2 = Q^H A2 adds to both.
Tensor linalg_qr_backward(const Tensor& grad_Q, const Tensor& grad_R, const Tensor& A, const Tensor& Q, const Tensor& R,
                          std::string_view mode) {
  const std::int64_t m = A.size(-2), n = A.size(-1);
  KEYWAY_CHECK_AS(Autograd, mode != "r", "mode 'r' has no gradient, as it does not compute Q: take 'reduced'");
  KEYWAY_CHECK_AS(Autograd, mode == "reduced" || m <= n,
                  "mode 'complete' has no gradient for matrices with more rows than columns ({} and {})", m, n);
  const bool is_wide = n > m;
  Tensor for_Q = grad_Q, for_rest;
  if (is_wide && grad_R.defined()) {
    const Tensor rest = grad_R.narrow(-1, m, n - m);
    for_Q = sum_of(for_Q, product(A.narrow(-1, m, n - m), adjoint_of(rest)));
    for_rest = product(Q, rest);
  }
  const Tensor square = is_wide ? R.narrow(-1, 0, m) : R;
  Tensor inner;
  if (grad_R.defined()) inner = product(is_wide ? grad_R.narrow(-1, 0, m) : grad_R, adjoint_of(square));
  if (for_Q.defined()) {
    const Tensor projected = product(adjoint_of(Q), for_Q);
    inner = inner.defined() ? inner - projected : -projected;
  }
  const Tensor upper = inner.triu();
  const Tensor both = upper + adjoint_of(upper);
  const Tensor hermitian = with_diagonal(both, diagonal_of(both) * 0.5);
  const Tensor of_first = sum_of(for_Q, product(Q, hermitian));
  const Tensor result = keyway::linalg_solve_triangular(adjoint_of(square), of_first, /*upper=*/false, /*left=*/false);
  if (!is_wide) return result;
  if (!for_rest.defined()) for_rest = keyway::zeros_like(A.narrow(-1, m, n - m));
  return keyway::cat({result, for_rest}, -1);
}

// dvalues = diag(V^H dA V), dV = V (V^H dA V / E), E(i, j) = values[j] - values[i].
Tensor linalg_eigh_backward(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values,
                            const Tensor& vectors, bool compute_v) {
  KEYWAY_CHECK_AS(Autograd, compute_v, "the gradient needs eigenvectors, which were not computed");
  const Tensor adjoint = adjoint_of(vectors);
  if (!grad_vectors.defined()) return product(columns_times(vectors, grad_values), adjoint);
  const Tensor projected = product(adjoint, grad_vectors);
  if (projected.is_complex()) check_angles(keyway::imag(diagonal_of(projected)), "eigenvectors");
  const Tensor inner = projected / differences(values);
  const Tensor of_values =
      grad_values.defined() ? grad_values.to(inner.dtype()) : keyway::zeros_like(diagonal_of(inner));
  return product(vectors, with_diagonal(inner, of_values), adjoint);
}

// The same with V^-1 in the place of V^H. Vectors have length 1, so that what a change of theirs does along themselves
// counts only by what it does to their length.
Tensor linalg_eig_backward(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& A, const Tensor& values,
                           const Tensor& vectors, bool compute_v) {
  KEYWAY_CHECK_AS(Autograd, compute_v, "the gradient needs eigenvectors, which were not computed");
  const Tensor adjoint = adjoint_of(vectors);
  // Vectors that are no basis, of a matrix that has too few, leave no finite gradient, as equal values do.
  const auto solved = [&](const Tensor& b) { return std::get<0>(keyway::linalg_solve_ex(adjoint, b)); };
  Tensor result;
  if (grad_vectors.defined()) {
    const Tensor inner = product(adjoint, grad_vectors);
    check_angles(keyway::imag(diagonal_of(inner)), "eigenvectors");
    const Tensor along = columns_times(product(adjoint, vectors), keyway::real(diagonal_of(inner)));
    const Tensor scaled = (inner - along) / differences(values).conj_physical();
    const Tensor of_values = grad_values.defined() ? grad_values : keyway::zeros_like(values);
    result = solved(product(with_diagonal(scaled, of_values), adjoint));
  } else {
    result = solved(rows_times(grad_values, adjoint));
  }
  return A.is_complex() ? result : keyway::real(result);
}

// With skew(X) = X - X^H and E(i, j) = S[j]^2 - S[i]^2, the gradient is
//   U (skew(U^H grad_U) / E S + S skew(V^H grad_V) / E + diag(grad_S)) V^H
// and, of those directions that U and V do not have, (I - U U^H) grad_U S^-1 V^H + U S^-1 grad_V^H (I - V V^H).
Tensor linalg_svd_backward(const Tensor& grad_U, const Tensor& grad_S, const Tensor& grad_Vh, const Tensor& all_U,
                           const Tensor& S, const Tensor& all_Vh, bool compute_uv) {
  KEYWAY_CHECK_AS(Autograd, compute_uv, "the gradient needs singular vectors, which were not computed");
  const std::int64_t rank = S.size(-1), m = all_U.size(-2), n = all_Vh.size(-1);
  const Tensor U = all_U.narrow(-1, 0, rank), Vh = all_Vh.narrow(-2, 0, rank);
  if (!grad_U.defined() && !grad_Vh.defined()) return product(columns_times(U, grad_S), Vh);

  const auto skew = [](const Tensor& a) { return a - adjoint_of(a); };
  const Tensor gaps = [&] {
    const Tensor squares = S * S;
    return differences(squares);
  }();
  Tensor inner, of_U, of_Vh, phases, turns;
  if (grad_U.defined()) {
    const Tensor grad = grad_U.narrow(-1, 0, rank);
    const Tensor turn = skew(product(adjoint_of(U), grad));
    inner = columns_times(turn / gaps, S);
    phases = diagonal_of(turn);
    turns = phases;
    if (m > rank) of_U = columns_times(grad - product(U, adjoint_of(U), grad), S.reciprocal());
  }
  if (grad_Vh.defined()) {
    const Tensor grad = grad_Vh.narrow(-2, 0, rank);
    const Tensor turn = skew(product(Vh, adjoint_of(grad)));
    inner = sum_of(inner, rows_times(S, turn / gaps));
    turns = sum_of(turns, diagonal_of(turn));
    if (n > rank) of_Vh = rows_times(S.reciprocal(), grad - product(grad, adjoint_of(Vh), Vh));
  }
  if (U.is_complex()) check_angles(keyway::imag(turns) * 0.5, "singular vectors");
  // A column of U and the row of Vh turn together in the complex plane: only what is not common to both counts.
  Tensor diagonal = grad_S.defined() ? grad_S.to(inner.dtype()) : keyway::zeros_like(diagonal_of(inner));
  if (U.is_complex() && phases.defined()) diagonal = diagonal + phases / (S * 2);
  inner = with_diagonal(inner, diagonal);

  if (of_U.defined() && of_Vh.defined()) return product(product(U, inner) + of_U, Vh) + product(U, of_Vh);
  if (of_U.defined()) return product(product(U, inner) + of_U, Vh);
  return product(U, of_Vh.defined() ? product(inner, Vh) + of_Vh : product(inner, Vh));
}

}  // namespace keyway::inline v1::autograd
