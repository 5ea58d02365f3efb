// The operators of the family linalg: products of matrices, as multiply() computes them.
#include <keyway/backends/cuda/kernels/kernels_linalg.h>
#include <keyway/backends/cuda/kernels/multiply.h>

namespace keyway::inline v1::cuda {

namespace {

// `tensor` seen with the sizes that it broadcasts to.
TensorBase expanded(const TensorBase& tensor, IntArrayRef sizes) {
  DimVector strides(sizes.size(), 0);
  const std::size_t lead = sizes.size() - tensor.sizes().size();
  for (std::size_t d = lead; d < sizes.size(); ++d) {
    if (tensor.sizes()[d - lead] != 1) strides[d] = tensor.strides()[d - lead];
  }
  return make_view(tensor, sizes, strides, tensor.storage_offset());
}

}  // namespace

void mm(const TensorBase& self, const TensorBase& mat2, TensorBase& out) { multiply({self, mat2, out}); }

void bmm(const TensorBase& self, const TensorBase& mat2, TensorBase& out) { multiply({self, mat2, out}); }

void addmm(const TensorBase& self, const TensorBase& mat1, const TensorBase& mat2, const Scalar& beta,
           const Scalar& alpha, TensorBase& out) {
  multiply({mat1, mat2, out, alpha, beta, expanded(self, out.sizes())});
}

void baddbmm(const TensorBase& self, const TensorBase& batch1, const TensorBase& batch2, const Scalar& beta,
             const Scalar& alpha, TensorBase& out) {
  multiply({batch1, batch2, out, alpha, beta, expanded(self, out.sizes())});
}

}  // namespace keyway::inline v1::cuda
