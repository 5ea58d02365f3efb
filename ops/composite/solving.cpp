// Equations with matrices, and what is made of their solutions.
#include <keyway/core/base/error.h>
#include <keyway/ops/composite/decompositions.h>
#include <keyway/ops/rules/contracts.h>
#include <keyway/ops/solving_composites.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

namespace keyway::inline v1::composite {

namespace {

Tensor identity(std::int64_t n, const Tensor& like) { return keyway::eye(n, like.options()); }

Tensor solve_triangle(const Tensor& A, const Tensor& B, bool upper, bool left, bool unit = false) {
  return keyway::linalg_solve_triangular(A, B, upper, left, unit);
}

// Rows of matrices, or their columns, in the order that `order` says.
Tensor in_order(const Tensor& matrices, const Tensor& order, bool rows) {
  const std::int64_t dim = rows ? -2 : -1;
  const Tensor each = rows ? order.unsqueeze(-1) : order.unsqueeze(-2);
  DimVector sizes = broadcast_sizes(batch_sizes(each), batch_sizes(matrices));
  DimVector index_sizes = sizes;
  index_sizes.push_back(rows ? order.size(-1) : matrices.size(-2));
  index_sizes.push_back(rows ? matrices.size(-1) : order.size(-1));
  sizes.push_back(matrices.size(-2));
  sizes.push_back(matrices.size(-1));
  return matrices.expand(sizes).gather(dim, each.expand(index_sizes));
}

// A vector for each matrix, rather than a matrix.
bool is_vector(const Tensor& A, const Tensor& B) {
  return B.dim() == 1 || (B.dim() == A.dim() - 1 && B.sizes() == A.sizes().slice(0, A.sizes().size() - 1));
}

// Singular values up to which a matrix counts as one of lower rank; `greatest` has theirs.
Tensor bound_of(const Tensor& A, const Tensor& greatest, const std::optional<Tensor>& atol,
                const std::optional<Tensor>& rtol) {
  const bool has_atol = atol && atol->defined(), has_rtol = rtol && rtol->defined();
  const auto usual = precision_of(A.dtype()) * static_cast<double>(std::max(A.size(-2), A.size(-1)));
  const Tensor absolute = has_atol ? atol->to(greatest.dtype()) : keyway::zeros({}, greatest.options());
  if (has_rtol) return absolute.maximum(rtol->to(greatest.dtype()) * greatest);
  if (has_atol) return keyway::where(absolute > 0, absolute, usual * greatest);
  return usual * greatest;
}

// The sizes of the singular values of matrices, in no particular order.
Tensor sizes_of_values(const Tensor& A, bool hermitian) {
  return hermitian ? keyway::linalg_eigvalsh(A).abs() : keyway::linalg_svdvals(A);
}

std::optional<Tensor> number_tensor(const std::optional<double>& number, const Tensor& like) {
  if (!number) return std::nullopt;
  return keyway::full({}, *number, like.options().dtype(to_real(like.dtype())));
}

}  // namespace

// --- Equations

std::tuple<Tensor, Tensor, Tensor, Tensor> _linalg_solve_ex(const Tensor& A, const Tensor& B, bool left) {
  const auto [LU, pivots, info] = keyway::linalg_lu_factor_ex(A);
  return {keyway::linalg_lu_solve(LU, pivots, B, left), LU, pivots, info};
}

std::tuple<Tensor, Tensor> linalg_solve_ex(const Tensor& A, const Tensor& B, bool left, bool check_errors) {
  const bool vector = left && is_vector(A, B);
  const auto [result, LU, pivots, info] = keyway::_linalg_solve_ex(A, vector ? B.unsqueeze(-1) : B, left);
  if (check_errors) check_info(info, "linalg.solve");
  return {vector ? result.squeeze(-1) : result, info};
}

Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left) {
  return std::get<0>(keyway::linalg_solve_ex(A, B, left, /*check_errors=*/true));
}

// A = P L U, where row i of P^T A is row p[i] of A.
Tensor linalg_lu_solve(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left, bool adjoint) {
  const Tensor p = permutation_of(pivots, LU.size(-1));
  if (left != adjoint) {  // P^T B first: A X = B, or X A^H = B
    const Tensor ordered = in_order(B, p, /*rows=*/left);
    if (left) return solve_triangle(LU, solve_triangle(LU, ordered, false, true, true), true, true);
    const Tensor upper = adjoint_of(LU);  // of it the upper triangle is L^H, the lower one U^H
    return solve_triangle(upper, solve_triangle(upper, ordered, true, false, true), false, false);
  }
  const Tensor back = p.argsort(-1, false);
  if (left) {
    const Tensor upper = adjoint_of(LU);
    const Tensor solved = solve_triangle(upper, solve_triangle(upper, B, false, true), true, true, true);
    return in_order(solved, back, /*rows=*/true);
  }
  const Tensor solved = solve_triangle(LU, solve_triangle(LU, B, true, false), false, false, true);
  return in_order(solved, back, /*rows=*/false);
}

Tensor lu_solve(const Tensor& self, const Tensor& LU_data, const Tensor& LU_pivots) {
  return keyway::linalg_lu_solve(LU_data, LU_pivots, self);
}

Tensor cholesky_solve(const Tensor& self, const Tensor& input2, bool upper) {
  const Tensor adjoint = adjoint_of(input2);
  const Tensor half = solve_triangle(upper ? adjoint : input2, self, false, true);
  return solve_triangle(upper ? input2 : adjoint, half, true, true);
}

Tensor cholesky_inverse(const Tensor& self, bool upper) {
  return keyway::cholesky_solve(identity(self.size(-1), self), self, upper);
}

std::tuple<Tensor, Tensor> triangular_solve(const Tensor& self, const Tensor& A, bool upper, bool transpose,
                                            bool unitriangular) {
  const Tensor solution = transpose ? solve_triangle(A.transpose(-2, -1), self, !upper, true, unitriangular)
                                    : solve_triangle(A, self, upper, true, unitriangular);
  return {solution, A.clone()};
}

// --- Inverses

std::tuple<Tensor, Tensor> linalg_inv_ex(const Tensor& A, bool check_errors) {
  const auto [LU, pivots, info] = keyway::linalg_lu_factor_ex(A);
  if (check_errors) check_info(info, "linalg.inv");
  return {keyway::linalg_lu_solve(LU, pivots, identity(A.size(-1), A)), info};
}

Tensor inverse(const Tensor& self) { return keyway::linalg_inv(self); }

Tensor linalg_inv(const Tensor& A) { return std::get<0>(keyway::linalg_inv_ex(A, /*check_errors=*/true)); }

Tensor linalg_pinv_tensors(const Tensor& self, const std::optional<Tensor>& atol, const std::optional<Tensor>& rtol,
                           bool hermitian) {
  if (self.numel() == 0) {
    DimVector sizes(self.sizes());
    std::swap(sizes[sizes.size() - 2], sizes[sizes.size() - 1]);
    return keyway::empty(sizes, self.options());
  }
  const auto inverse_of = [&](const Tensor& values) {
    const Tensor sizes = values.abs();
    const Tensor bound = bound_of(self, sizes.amax(-1, true), atol, rtol);
    return keyway::where(sizes > bound, values.reciprocal(), 0).to(self.dtype()).unsqueeze(-2);
  };
  if (hermitian) {
    const auto [values, vectors] = keyway::linalg_eigh(self);
    return (vectors * inverse_of(values)).matmul(adjoint_of(vectors));
  }
  const auto [U, S, Vh] = keyway::linalg_svd(self, /*full_matrices=*/false);
  return (adjoint_of(Vh) * inverse_of(S)).matmul(adjoint_of(U));
}

Tensor linalg_pinv(const Tensor& self, std::optional<double> atol, std::optional<double> rtol, bool hermitian) {
  return keyway::linalg_pinv(self, number_tensor(atol, self), number_tensor(rtol, self), hermitian);
}

Tensor linalg_pinv_rcond(const Tensor& self, double rcond, bool hermitian) {
  return keyway::linalg_pinv(self, std::optional<double>(0), rcond, hermitian);
}

Tensor pinverse(const Tensor& self, double rcond) { return keyway::linalg_pinv(self, std::nullopt, rcond); }

// --- Determinants

std::tuple<Tensor, Tensor, Tensor> _linalg_det(const Tensor& A) {
  const auto [LU, pivots, info] = keyway::linalg_lu_factor_ex(A);
  return {diagonal_of(LU).prod(-1) * parity_of(pivots, LU.dtype()), LU, pivots};
}

Tensor linalg_det(const Tensor& A) { return std::get<0>(keyway::_linalg_det(A)); }

Tensor det(const Tensor& self) { return keyway::linalg_det(self); }

std::tuple<Tensor, Tensor> slogdet(const Tensor& self) { return keyway::linalg_slogdet(self); }

std::tuple<Tensor, Tensor> linalg_slogdet(const Tensor& A) {
  const auto [LU, pivots, info] = keyway::linalg_lu_factor_ex(A);
  const Tensor diagonal = diagonal_of(LU);
  return {diagonal.sgn().prod(-1) * parity_of(pivots, LU.dtype()), diagonal.abs().log().sum(-1)};
}

Tensor logdet(const Tensor& self) {
  const auto [sign, size] = keyway::linalg_slogdet(self);
  return size + sign.log();
}

// --- Ranks and least squares

Tensor linalg_matrix_rank_tensors(const Tensor& input, const std::optional<Tensor>& atol,
                                  const std::optional<Tensor>& rtol, bool hermitian) {
  const Tensor none;
  (void)common_device({{"input", input}, {"atol", atol ? *atol : none}, {"rtol", rtol ? *rtol : none}});
  if (input.numel() == 0) return keyway::zeros(batch_sizes(input), input.options().dtype(kLong));
  const Tensor values = sizes_of_values(input, hermitian);
  const Tensor bound = bound_of(input, values.amax(-1), atol, rtol);
  return (values > bound.unsqueeze(-1)).sum(-1);
}

Tensor linalg_matrix_rank(const Tensor& self, std::optional<double> atol, std::optional<double> rtol, bool hermitian) {
  return keyway::linalg_matrix_rank(self, number_tensor(atol, self), number_tensor(rtol, self), hermitian);
}

Tensor linalg_matrix_rank_tol(const Tensor& self, double tol, bool hermitian) {
  return keyway::linalg_matrix_rank(self, tol, std::optional<double>(0), hermitian);
}

namespace {

// Of matrices of full rank: by their QR, or that of the conjugate transpose of those with more columns than rows.
Tensor full_rank_solution(const Tensor& A, const Tensor& B) {
  if (A.size(-2) >= A.size(-1)) {
    const auto [Q, R] = keyway::linalg_qr(A);
    return solve_triangle(R, adjoint_of(Q).matmul(B), true, true);
  }
  const auto [Q, R] = keyway::linalg_qr(adjoint_of(A));
  return Q.matmul(solve_triangle(adjoint_of(R), B, false, true));
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor> linalg_lstsq(const Tensor& self, const Tensor& b,
                                                        std::optional<double> rcond,
                                                        std::optional<std::string_view> driver) {
  const std::string_view method = driver ? *driver : self.is_cpu() || self.is_meta() ? "gelsy" : "gels";
  const bool vector = is_vector(self, b);
  const Tensor B = vector ? b.unsqueeze(-1) : b;
  const std::int64_t m = self.size(-2), n = self.size(-1);
  KEYWAY_CHECK(B.dim() >= 2 && B.size(-2) == m, "matrices have {} rows, but b has {}", m,
               B.dim() >= 2 ? B.size(-2) : 0);
  const Tensor none = keyway::empty({0}, self.options());
  Tensor solution, values = keyway::empty({0}, self.options().dtype(to_real(self.dtype())));
  Tensor rank = keyway::empty({0}, self.options().dtype(kLong));
  if (method == "gels") {
    solution = full_rank_solution(self, B);
  } else {
    const double bound = rcond ? *rcond : precision_of(self.dtype()) * static_cast<double>(std::max(m, n));
    solution = keyway::linalg_pinv(self, std::nullopt, bound).matmul(B);
    const Tensor all = keyway::linalg_svdvals(self.detach());
    rank = (all > bound * all.narrow(-1, 0, std::min<std::int64_t>(1, all.size(-1)))).sum(-1);
    if (method != "gelsy") values = all;
  }
  Tensor residuals = values.narrow(0, 0, 0).reshape({0});
  const bool has_residuals =
      m > n && method != "gelsy" && (method == "gels" || self.is_meta() || rank.eq(n).all().item().to<bool>());
  if (has_residuals) {
    const Tensor rest = B - self.matmul(solution);
    residuals = (rest.is_complex() ? keyway::real(rest * rest.conj_physical()) : rest * rest).sum(-2);
    if (vector) residuals = residuals.squeeze(-1);
  }
  return {vector ? solution.squeeze(-1) : solution, residuals, rank, values};
}

// --- Exponentials

namespace {

constexpr int kTerms = 18;
// Up to this 1-norm the first terms are exact to the dtype's precision: Bader, Blanes and Casas, "Computing the matrix
// exponential with an optimized Taylor polynomial approximation", 2019, table 2.
double greatest_norm(ScalarType dtype) { return to_real(dtype) == kDouble ? 1.09 : 3.01; }

// The sum of the first terms: a polynomial of degree 2 in A^6 whose coefficients are polynomials of degree 5 in A, one
// of them of degree 6.
Tensor taylor_sum(const Tensor& A) {
  std::array<double, kTerms + 1> factors{1};
  for (std::size_t k = 1; k < factors.size(); ++k) factors[k] = factors[k - 1] / static_cast<double>(k);
  std::array<Tensor, 7> powers;
  powers[0] = identity(A.size(-1), A).expand(A.sizes());
  powers[1] = A;
  for (std::size_t k = 2; k < powers.size(); ++k) powers[k] = powers[k / 2].matmul(powers[k - k / 2]);
  const auto part = [&](std::size_t first, std::size_t count) {
    Tensor sum = powers[0] * factors[first];
    for (std::size_t k = 1; k < count; ++k) sum = sum + powers[k] * factors[first + k];
    return sum;
  };
  const Tensor last = part(12, 7);
  return part(0, 6) + powers[6].matmul(part(6, 6) + powers[6].matmul(last));
}

}  // namespace

Tensor matrix_exp(const Tensor& self) { return keyway::linalg_matrix_exp(self); }

Tensor linalg_matrix_exp(const Tensor& self) {
  if (self.numel() == 0 || self.is_meta()) return keyway::empty(self.sizes(), self.options());
  if (self.dtype() != kDouble && self.dtype() != kFloat && !self.is_complex()) {
    return keyway::linalg_matrix_exp(self.to(kFloat)).to(self.dtype());
  }
  // Scaled down until the sum is exact, then squared as often as it was halved.
  const Tensor norm = self.abs().sum(-2).amax(-1);
  KEYWAY_CHECK_AS(LinAlg, norm.isfinite().all().item().to<bool>(),
                  "the input has elements that are infinite or no numbers");
  const Tensor halvings = (norm / greatest_norm(self.dtype())).log2().ceil().clamp(0).unsqueeze(-1).unsqueeze(-1);
  const auto most = halvings.max().item().to<std::int64_t>();
  Tensor result = taylor_sum(self * halvings.neg().exp2().to(self.dtype()));
  for (std::int64_t i = 0; i < most; ++i) {
    const Tensor squared = result.matmul(result);
    result = keyway::where(halvings > i, squared, result);
  }
  return result.contiguous();
}

}  // namespace keyway::inline v1::composite
