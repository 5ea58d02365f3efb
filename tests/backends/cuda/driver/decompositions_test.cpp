// Decompositions on CUDA devices: cuSOLVER's. Vectors may point either way, so what is compared is their product, or
// what they are defined by.
#include <keyway/core/device/cuda_graph.h>
#include <keyway/core/device/stream_guard.h>
#include <keyway/ops/matrices.h>
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/backends/cuda/driver/emulated_calls.h>
#include <keyway/tests/catch.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

namespace {

std::string cusolver_state() {
  const char* const wish = std::getenv("KEYWAY_EMULATED_CUSOLVER");
  return wish == nullptr ? "" : wish;
}
bool has_cusolver() { return has_products() && cusolver_state().empty(); }

constexpr ScalarType kDecomposedDtypes[] = {kFloat, kDouble, kComplexFloat, kComplexDouble};

Tensor some_matrices(IntArrayRef sizes, ScalarType dtype, std::int64_t seed = 0) {
  const Tensor real = scattered(sizes, -9, 9, seed).to(to_real(dtype)) / 4;
  if (!is_complex(dtype)) return real;
  return view_as_complex(stack({real, scattered(sizes, -9, 9, seed + 1).to(to_real(dtype)) / 4}, -1));
}

bool is_near_matrix(const Tensor& a, const Tensor& b) {
  const Tensor x = a.to(kCPU, a.dtype()), y = b.to(kCPU, b.dtype());
  const double tolerance = to_real(x.dtype()) == kDouble ? 1e-10 : 2e-3;
  if (!is_complex(x.dtype())) return is_close(x, y, tolerance);
  return x.dtype() == y.dtype() && is_close(view_as_real(x.contiguous()), view_as_real(y.contiguous()), tolerance);
}

// The same matrices, in rows, in columns and strided.
std::vector<Tensor> matrix_layouts(const Tensor& matrices) {
  Tensor wide = on_cuda(zeros_like(stack({matrices, matrices}, -1)));
  Tensor strided = wide.select(-1, 1);
  strided.copy_(matrices);
  return {on_cuda(matrices), on_cuda(matrices.transpose(-2, -1).contiguous()).transpose(-2, -1), strided};
}

Tensor identity_of(const Tensor& like, std::int64_t n) {
  DimVector sizes(like.sizes());
  sizes[sizes.size() - 1] = sizes[sizes.size() - 2] = n;
  return eye(n, like.options().device(kCPU)).expand(sizes);
}

// Of a batch of three: 0, `second`, 0.
Tensor notes_of_three(std::int64_t second) {
  Tensor notes = zeros({3}, TensorOptions().dtype(kLong));
  notes.select(0, 1).fill_(second);
  return notes;
}

const std::vector<Sizes> kMatrixShapes{{3, 3},       {5, 2},   {2, 5}, {1, 1}, {2, 4, 3},
                                       {2, 2, 3, 4}, {40, 35}, {0, 3}, {3, 0}, {0, 2, 2}};
const std::vector<Sizes> kSquareShapes{{3, 3}, {1, 1}, {2, 4, 4}, {2, 2, 3, 3}, {40, 40}, {0, 0}, {0, 2, 2}};

}  // namespace

TEST_CASE("factors of matrices on CUDA have them for their product, of all dtypes, shapes and layouts") {
  if (!has_cusolver()) return;
  for (const ScalarType dtype : kDecomposedDtypes) {
    for (const Sizes& shape : kMatrixShapes) {
      INFO(to_string(dtype) << ' ' << FormatArg(IntArrayRef(shape)).str());
      const Tensor a = some_matrices(shape, dtype);
      for (const Tensor& there : matrix_layouts(a)) {
        const auto [P, L, U] = linalg_lu(there);
        CHECK(is_near_matrix(P.matmul(L).matmul(U), a));
        for (const char* const mode : {"reduced", "complete"}) {
          const auto [Q, R] = linalg_qr(there, mode);
          CHECK(is_near_matrix(Q.matmul(R), a));
          CHECK(is_near_matrix(adjoint_of(Q).matmul(Q), identity_of(a, Q.size(-1))));
        }
        for (const bool full : {false, true}) {
          const auto [left, S, Vh] = linalg_svd(there, full);
          const std::int64_t rank = S.size(-1);
          CHECK(is_near_matrix((left.narrow(-1, 0, rank) * S.unsqueeze(-2)).matmul(Vh.narrow(-2, 0, rank)), a));
          CHECK(is_near_matrix(adjoint_of(left).matmul(left), identity_of(a, left.size(-1))));
          CHECK(is_near_matrix(Vh.matmul(adjoint_of(Vh)), identity_of(a, Vh.size(-2))));
          CHECK(is_near_matrix(S, linalg_svdvals(a)));
          CHECK(is_near_matrix(linalg_svdvals(there), S));
        }
      }
    }
  }
}

TEST_CASE("Cholesky factors and eigenvectors on CUDA are what they are defined by") {
  if (!has_cusolver()) return;
  for (const ScalarType dtype : kDecomposedDtypes) {
    for (const Sizes& shape : kSquareShapes) {
      INFO(to_string(dtype) << ' ' << FormatArg(IntArrayRef(shape)).str());
      const Tensor any = some_matrices(shape, dtype), hermitian = any + adjoint_of(any);
      const Tensor positive = any.matmul(adjoint_of(any)) + identity_of(any, any.size(-1));
      for (const Tensor& there : matrix_layouts(positive)) {
        const Tensor L = linalg_cholesky(there), U = linalg_cholesky(there, true);
        CHECK(is_near_matrix(L.matmul(adjoint_of(L)), positive));
        CHECK(is_near_matrix(adjoint_of(U).matmul(U), positive));
        CHECK(same_values(L.triu(1), zeros_like(positive)));
      }
      for (const Tensor& there : matrix_layouts(hermitian)) {
        for (const char* const triangle : {"L", "U"}) {
          const Tensor half = *triangle == 'L' ? there.tril() : there.triu();  // the other one is not read
          const auto [values, V] = linalg_eigh(half, triangle);
          CHECK(is_near_matrix(there.matmul(V), V * values.unsqueeze(-2)));
          CHECK(is_near_matrix(adjoint_of(V).matmul(V), identity_of(any, V.size(-1))));
          CHECK(is_near_matrix(linalg_eigvalsh(half, triangle), linalg_eigvalsh(hermitian)));
        }
      }
      for (const Tensor& there : matrix_layouts(any)) {
        const auto [values, V] = linalg_eig(there);
        CHECK(is_near_matrix(there.to(V.dtype()).matmul(V), V * values.unsqueeze(-2)));
        CHECK(
            is_near_matrix(linalg_vector_norm(V, 2, -2), ones(values.sizes(), TensorOptions().dtype(to_real(dtype)))));
      }
    }
  }
}

TEST_CASE("equations on CUDA have solutions, of as many rows as blocks have or not, either side, both triangles") {
  if (!has_cusolver()) return;
  for (const ScalarType dtype : kDecomposedDtypes) {
    for (const std::int64_t n : {1, 3, 32, 33, 70}) {
      const Tensor a = some_matrices({2, n, n}, dtype) / (4 * n) + identity_of(some_matrices({2, n, n}, dtype), n);
      const Tensor b = some_matrices({2, n, 3}, dtype, 5), one = some_matrices({n, 2}, dtype, 6);
      INFO(to_string(dtype) << ' ' << n);
      for (const Tensor& there : matrix_layouts(a)) {
        CHECK(is_near_matrix(linalg_solve(there, on_cuda(b)), linalg_solve(a, b)));
        CHECK(is_near_matrix(linalg_inv(there), linalg_inv(a)));
        CHECK(is_near_matrix(linalg_det(there), linalg_det(a)));
        for (const bool upper : {false, true}) {
          for (const bool unit : {false, true}) {
            const Tensor right = b.transpose(-2, -1);
            CHECK(is_near_matrix(linalg_solve_triangular(there, on_cuda(b), upper, true, unit),
                                 linalg_solve_triangular(a, b, upper, true, unit)));
            CHECK(is_near_matrix(linalg_solve_triangular(there, on_cuda(right), upper, false, unit),
                                 linalg_solve_triangular(a, right, upper, false, unit)));
            CHECK(is_near_matrix(linalg_solve_triangular(there, on_cuda(one), upper, true, unit),
                                 linalg_solve_triangular(a, one, upper, true, unit)));
            CHECK(is_near_matrix(linalg_solve_triangular(there.select(0, 1), on_cuda(b), upper, true, unit),
                                 linalg_solve_triangular(a.select(0, 1), b, upper, true, unit)));
          }
        }
      }
    }
  }
}

TEST_CASE("no step of an equation with a triangle is left out where a factor is zero, on the CPU and on CUDA") {
  if (!has_products()) return;
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  for (const ScalarType dtype : kDecomposedDtypes) {
    for (const std::int64_t n : {2, 40}) {
      // Row 0 is 0 x = 0, and so no number has it; what it is multiplied by elsewhere does not matter.
      Tensor a = eye(n, TensorOptions().dtype(dtype)), b = zeros({n, 3}, TensorOptions().dtype(dtype));
      a.select(0, 0).select(0, 0).fill_(0);
      for (const Tensor& x : {linalg_solve_triangular(a, b, false, true, false),
                              linalg_solve_triangular(on_cuda(a), on_cuda(b), false, true, false)}) {
        CHECK(same_values(real(x), full({n, 3}, nan, TensorOptions().dtype(to_real(dtype)))));
      }
      // The last x is infinite, and infinity times the zeros above it is no number.
      a.select(0, 0).select(0, 0).fill_(1);
      b.select(0, n - 1).fill_(inf);
      for (const Tensor& x : {linalg_solve_triangular(a, b, true, true, true),
                              linalg_solve_triangular(on_cuda(a), on_cuda(b), true, true, true),
                              linalg_solve_triangular(a, b.transpose(0, 1), false, false, true).transpose(0, 1)}) {
        const Tensor others = real(x).slice(0, 0, n - 1);
        CHECK(same_values(others, full(others.sizes(), nan, TensorOptions().dtype(to_real(dtype)))));
      }
    }
  }
}

TEST_CASE("a matrix of a batch on CUDA that is not finite, or has no factors, is named, and leaves the others alone") {
  if (!has_cusolver()) return;
  Tensor batch = identity_of(zeros({3, 2, 2}, TensorOptions().dtype(kDouble)), 2).clone();
  batch.select(0, 1).fill_(std::numeric_limits<double>::quiet_NaN());
  const Tensor there = on_cuda(batch);
  for (const bool vectors : {false, true}) {
    const auto [values, V, info] = _linalg_eigh(there, false, vectors);
    CHECK(same_values(info, notes_of_three(-1).to(kInt)));
    CHECK(same_values(values.isnan().any(-1), notes_of_three(1).to(kBool)));
    const auto [U, S, Vh, state] = _linalg_svd(there, false, vectors);
    CHECK(same_values(state, notes_of_three(-1).to(kInt)));
    CHECK(same_values(S.isnan().any(-1), notes_of_three(1).to(kBool)));
    const auto [z, Z, third] = _linalg_eig(there, vectors);
    CHECK(same_values(third, notes_of_three(-1).to(kInt)));
    CHECK(same_values(view_as_real(z).isnan().any(-1).any(-1), notes_of_three(1).to(kBool)));
  }
  CHECK(same_values(there, batch));
  CHECK_THROWS_WITH(linalg_eigh(there), Catch::Contains("(batch element 1): the input has elements that are infinite"));
  CHECK_THROWS_WITH(linalg_inv(zeros({2, 2}, there.options())), Catch::Contains("the matrix cannot be inverted"));
  CHECK_THROWS_WITH(linalg_cholesky(-eye(2, there.options())), Catch::Contains("not positive-definite"));
}

TEST_CASE("gradients of decompositions on CUDA are the CPU's") {
  if (!has_cusolver()) return;
  const Tensor a = some_matrices({2, 4, 4}, kDouble) + 6 * identity_of(some_matrices({2, 4, 4}, kDouble), 4);
  const auto gradient = [](const Tensor& given) {
    const Tensor leaf = given.detach().requires_grad_();
    const auto [Q, R] = linalg_qr(leaf);
    const Tensor sum = linalg_inv(leaf).sum() + linalg_det(leaf).sum() + linalg_svdvals(leaf).sum() +
                       (Q.matmul(R) * leaf).sum() + linalg_solve(leaf, leaf.select(-1, 0)).sum();
    sum.backward();
    return leaf.grad();
  };
  CHECK(is_close(gradient(on_cuda(a)), gradient(a), 1e-9));
}

TEST_CASE("decompositions in streams, and on the second device, follow what is computed before them") {
  if (!has_cusolver()) return;
  const Tensor a = some_matrices({5, 5}, kDouble) + 9 * eye(5, TensorOptions().dtype(kDouble));
  const Tensor twice = linalg_inv(linalg_inv(a) * 2);
  for (int device = 0; device < device_count(kCUDA) && device < 2; ++device) {
    const Device on(kCUDA, static_cast<std::int8_t>(device));
    const DeviceGuard guard(on);
    const StreamGuard stream(new_stream(kCUDA));
    CHECK(is_near_matrix(linalg_inv(linalg_inv(a.to(on, a.dtype())) * 2), twice));
  }
}

TEST_CASE("a decomposition cannot be captured, and says so") {
  if (!has_cusolver() || !keeps_memory()) return;
  const Tensor a = on_cuda(some_matrices({3, 3}, kDouble));
  CUDAGraph graph;
  const StreamGuard stream(new_stream(kCUDA));
  graph.capture_begin();
  CHECK_THROWS_WITH(linalg_lu_factor_ex(a), Catch::Contains("a decomposition"));
  CHECK_THROWS(graph.capture_end());
}

TEST_CASE("a decomposition without cuSOLVER says what to install") {
  if (lacks_device() || cusolver_state() != "missing") return;
  CHECK_THROWS_WITH(linalg_cholesky(on_cuda(some_matrices({2, 2}, kFloat))),
                    Catch::Contains("need cuSOLVER 12: libcusolver.so.12: there is no such file; install it"));
}

TEST_CASE("a decomposition that cuSOLVER fails is an error with its status and the operator") {
  if (lacks_device() || cusolver_state() != "broken") return;
  CHECK_THROWS_WITH(linalg_cholesky(on_cuda(some_matrices({2, 2}, kFloat))),
                    Catch::Contains("_linalg_cholesky: cuSOLVER: status 6 in cusolverDnXpotrf"));
}
