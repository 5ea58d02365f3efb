// The operators of the family linalg: products of matrices, as multiply() computes them.
#include <keyway/backends/cuda/kernels/kernels_linalg.h>
#include <keyway/backends/cuda/kernels/multiply.h>
#include <keyway/core/tensor/iteration_space.h>

namespace keyway::inline v1::cuda {

void mm(const TensorBase& self, const TensorBase& mat2, TensorBase& out) { multiply({self, mat2, out}); }

void bmm(const TensorBase& self, const TensorBase& mat2, TensorBase& out) { multiply({self, mat2, out}); }

void addmm(const TensorBase& self, const TensorBase& mat1, const TensorBase& mat2, const Scalar& beta,
           const Scalar& alpha, TensorBase& out) {
  multiply({mat1, mat2, out, alpha, beta, expanded_to(self, out.sizes())});
}

void baddbmm(const TensorBase& self, const TensorBase& batch1, const TensorBase& batch2, const Scalar& beta,
             const Scalar& alpha, TensorBase& out) {
  multiply({batch1, batch2, out, alpha, beta, expanded_to(self, out.sizes())});
}

}  // namespace keyway::inline v1::cuda
