#include <keyway/core/base/error.h>
#include <keyway/core/keys/thread_state.h>
#include <keyway/ops/composite/decompositions.h>
#include <keyway/ops/decompositions_composites.h>
#include <keyway/ops/rules/contracts.h>

#include <algorithm>
#include <string>
#include <tuple>

namespace keyway::inline v1::composite {

namespace {

// What an element of info that is above 0 says, with its value for {}.
std::string_view meaning_of(std::string_view api_name) {
  const auto is_of = [&](std::string_view part) { return api_name.find(part) != std::string_view::npos; };
  if (is_of("cholesky")) return "the input is not positive-definite (the leading minor of order {} is not)";
  if (is_of("inv")) return "the diagonal element {} of U is zero: the matrix cannot be inverted";
  if (is_of("lu")) return "the diagonal element {} of U is zero: equations with the matrix cannot be solved";
  if (is_of("solve")) return "the diagonal element {} of U is zero: the equations cannot be solved";
  return "the algorithm did not converge: {} values were not found";
}

bool is_upper(std::string_view uplo) { return uplo == "U" || uplo == "u"; }

// Or a tangent; that of a batched tensor is one of what it holds.
bool needs_gradient(const Tensor& tensor) {
  return (grad_enabled() && tensor.requires_grad()) || tensor.key_set().has(Functionality::ForwardAD) ||
         tensor.key_set().has(Functionality::Batched);
}

// `text` with `value` for {}.
std::string filled(std::string_view text, std::int64_t value) {
  std::string result(text);
  const std::size_t at = result.find("{}");
  return at == std::string::npos ? result : result.replace(at, 2, std::to_string(value));
}

// Batches of `rows` x `columns` with ones on the diagonal.
Tensor identity_like(const Tensor& matrices, std::int64_t rows, std::int64_t columns) {
  DimVector sizes(matrices.sizes());
  sizes[sizes.size() - 2] = rows;
  sizes[sizes.size() - 1] = columns;
  const Tensor ones = keyway::eye(rows, columns, matrices.options());
  return ones.expand(sizes);
}

Tensor none_like(const Tensor& tensor) { return keyway::empty({0}, tensor.options()); }

}  // namespace

void linalg_check_errors(const Tensor& info, std::string_view api_name, bool is_matrix) {
  if (info.is_meta() || info.numel() == 0) return;
  const Tensor all = info.reshape({info.numel()});
  const auto failed = all.ne(0);
  if (!failed.any().item().to<bool>()) return;
  const auto first = failed.to(kByte).argmax().item().to<std::int64_t>();
  const auto value = all.select(0, first).item().to<std::int64_t>();
  const std::string where = is_matrix ? "" : "(batch element " + std::to_string(first) + "): ";
  const std::string what =
      value < 0 ? "the input has elements that are infinite or no numbers" : filled(meaning_of(api_name), value);
  Error error(ErrorKind::LinAlg, where + what, __FILE__, __LINE__);
  error.leave_op(api_name, "");  // which users know
  throw error;
}

void check_info(const Tensor& info, std::string_view api_name) {
  keyway::_linalg_check_errors(info, api_name, /*is_matrix=*/info.dim() == 0);
}

Tensor permutation_of(const Tensor& pivots, std::int64_t size) { return keyway::_pivots_to_permutation(pivots, size); }

Tensor cholesky(const Tensor& self, bool upper) { return keyway::linalg_cholesky(self, upper); }

Tensor linalg_cholesky(const Tensor& self, bool upper) {
  return std::get<0>(keyway::linalg_cholesky_ex(self, upper, /*check_errors=*/true));
}

std::tuple<Tensor, Tensor> linalg_cholesky_ex(const Tensor& self, bool upper, bool check_errors) {
  auto result = keyway::_linalg_cholesky(self, upper);
  if (check_errors) check_info(std::get<1>(result), "linalg.cholesky");
  return result;
}

std::tuple<Tensor, Tensor> linalg_eig(const Tensor& self) {
  const auto [values, vectors, info] = keyway::_linalg_eig(self, /*compute_v=*/true);
  check_info(info, "linalg.eig");
  return {values, vectors};
}

Tensor linalg_eigvals(const Tensor& self) {
  const auto [values, vectors, info] = keyway::_linalg_eig(self, needs_gradient(self));
  check_info(info, "linalg.eigvals");
  return values;
}

std::tuple<Tensor, Tensor> linalg_eigh(const Tensor& self, std::string_view UPLO) {
  const auto [values, vectors, info] = keyway::_linalg_eigh(self, is_upper(UPLO), /*compute_v=*/true);
  check_info(info, "linalg.eigh");
  return {values, vectors};
}

Tensor linalg_eigvalsh(const Tensor& self, std::string_view UPLO) {
  const auto [values, vectors, info] = keyway::_linalg_eigh(self, is_upper(UPLO), needs_gradient(self));
  check_info(info, "linalg.eigvalsh");
  return values;
}

std::tuple<Tensor, Tensor, Tensor> linalg_svd(const Tensor& A, bool full_matrices, std::optional<std::string_view>) {
  const auto [U, S, Vh, info] = keyway::_linalg_svd(A, full_matrices, /*compute_uv=*/true);
  check_info(info, "linalg.svd");
  return {U, S, Vh};
}

Tensor linalg_svdvals(const Tensor& A, std::optional<std::string_view>) {
  const auto [U, S, Vh, info] = keyway::_linalg_svd(A, /*full_matrices=*/false, needs_gradient(A));
  check_info(info, "linalg.svdvals");
  return S;
}

std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& self, bool some, bool compute_uv) {
  if (compute_uv) {
    const auto [U, S, Vh] = keyway::linalg_svd(self, !some, std::nullopt);
    return {U, S, adjoint_of(Vh)};
  }
  const auto zeros = [&](std::int64_t n) { return identity_like(self, n, n).mul(0); };
  return {zeros(self.size(-2)), keyway::linalg_svdvals(self, std::nullopt), zeros(self.size(-1))};
}

// The product of reflectors I - tau_i v_i v_i^H is I - V T V^H, where T is (I + D N)^-1 D, D having the factors on its
// diagonal and N being V^H V above its diagonal (Joffrain, Low, Quintana-Orti, van de Geijn and Van Zee, "Accumulating
// Householder transformations, revisited", 2006). So it is products and one equation with a triangle.
Tensor linalg_householder_product(const Tensor& input, const Tensor& tau) {
  const std::int64_t columns = input.size(-1), count = tau.size(-1);
  const Tensor ones = identity_like(input, input.size(-2), columns);
  const Tensor V = (input.tril(-1) + ones).narrow(-1, 0, count);
  const Tensor factors = tau.unsqueeze(-1);
  const Tensor above = factors * adjoint_of(V).matmul(V).triu(1);
  const Tensor first_rows = factors * adjoint_of(V.narrow(-2, 0, columns));
  return ones - V.matmul(keyway::linalg_solve_triangular(above, first_rows, /*upper=*/true, /*left=*/true,
                                                         /*unitriangular=*/true));
}

Tensor orgqr(const Tensor& self, const Tensor& input2) { return keyway::linalg_householder_product(self, input2); }

std::tuple<Tensor, Tensor> linalg_qr(const Tensor& A, std::string_view mode) {
  const std::int64_t m = A.size(-2), n = A.size(-1), rank = std::min(m, n);
  const auto [factors, tau] = keyway::geqrf(A);
  const bool is_complete = mode == "complete" && m > n;
  const Tensor R = (is_complete ? factors : factors.narrow(-2, 0, rank)).triu();
  if (mode == "r") return {none_like(A), R};
  const Tensor vectors = is_complete ? keyway::constant_pad_nd(factors, {0, m - n}, 0) : factors.narrow(-1, 0, rank);
  return {keyway::linalg_householder_product(vectors, tau), R};
}

std::tuple<Tensor, Tensor> qr(const Tensor& self, bool some) {
  return keyway::linalg_qr(self, some ? "reduced" : "complete");
}

Tensor ormqr(const Tensor& self, const Tensor& input2, const Tensor& input3, bool left, bool transpose) {
  const std::int64_t m = self.size(-2), columns = self.size(-1);
  const Tensor square = columns < m ? keyway::constant_pad_nd(self, {0, m - columns}, 0) : self.narrow(-1, 0, m);
  const Tensor Q = keyway::linalg_householder_product(square, input2);
  const Tensor factor = transpose ? adjoint_of(Q) : Q;
  return left ? factor.matmul(input3) : input3.matmul(factor);
}

std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex(const Tensor& A, bool pivot, bool check_errors) {
  auto result = keyway::_linalg_lu(A, pivot);
  if (check_errors) check_info(std::get<2>(result), "linalg.lu_factor");
  return result;
}

std::tuple<Tensor, Tensor> linalg_lu_factor(const Tensor& A, bool pivot) {
  const auto [LU, pivots, info] = keyway::linalg_lu_factor_ex(A, pivot, /*check_errors=*/true);
  return {LU, pivots};
}

std::tuple<Tensor, Tensor, Tensor> linalg_lu(const Tensor& A, bool pivot) {
  const auto [LU, pivots, info] = keyway::linalg_lu_factor_ex(A, pivot, false);
  return keyway::lu_unpack(LU, pivots, true, pivot);
}

std::tuple<Tensor, Tensor, Tensor> lu_unpack(const Tensor& LU_data, const Tensor& LU_pivots, bool unpack_data,
                                             bool unpack_pivots) {
  (void)same_device({{"LU_data", LU_data}, {"LU_pivots", LU_pivots}});
  const std::int64_t m = LU_data.size(-2), n = LU_data.size(-1), rank = std::min(m, n);
  Tensor P = none_like(LU_data), L = P, U = P;
  if (unpack_data) {
    L = LU_data.narrow(-1, 0, rank).tril(-1) + identity_like(LU_data, m, rank);
    U = LU_data.narrow(-2, 0, rank).triu();
  }
  if (unpack_pivots) {
    const Tensor rows = keyway::arange(m, TensorOptions(LU_data.device()).dtype(kLong)).unsqueeze(-1);
    P = rows.eq(permutation_of(LU_pivots, m).unsqueeze(-2)).to(LU_data.dtype());
  }
  return {P, L, U};
}

}  // namespace keyway::inline v1::composite
