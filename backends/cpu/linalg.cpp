// Kernels of matrix products.
#include <keyway/backends/cpu/gemm.h>
#include <keyway/backends/cpu/kernels_linalg.h>
#include <keyway/core/dtype/scalar.h>
#include <keyway/core/dtype/visit_dtype.h>

namespace keyway::inline v1::cpu {

namespace {

// `tensor` seen with the sizes that it broadcasts to: the strides of the last `rank` dimensions.
DimVector broadcast_strides(const TensorBase& tensor, std::size_t rank) {
  DimVector strides(rank);
  const std::size_t lead = rank - tensor.sizes().size();
  for (std::size_t d = lead; d < rank; ++d) {
    strides[d] = tensor.sizes()[d - lead] == 1 ? 0 : tensor.strides()[d - lead];
  }
  return strides;
}

template <typename T>
Matrix<T> slice(const TensorBase& batch, std::int64_t i) {
  Matrix<T> matrix = matrix_of<T>(batch);
  matrix.data += i * batch.strides()[0];
  return matrix;
}

template <typename T>
Opmath<T> factor(const Scalar& scalar) {
  return scalar.to<Opmath<T>>();
}

// alpha a b + beta add. Where alpha is 0 there is no product, as in the BLAS: NaN and infinities of a and b are not
// seen.
template <typename T>
Product<T> sum_of(Matrix<const T> a, Matrix<const T> b, const Matrix<T>& c, const Scalar& alpha, const Scalar& beta,
                  const Matrix<const T>& add) {
  const Opmath<T> of_product = factor<T>(alpha);
  if (of_product == Opmath<T>(0)) a.columns = b.rows = 0;
  return {a, b, c, of_product, factor<T>(beta), add};
}

}  // namespace

void mm(const TensorBase& self, const TensorBase& mat2, TensorBase& out) {
  visit_dtype<kNumberTypes>(out.dtype(), "mm", [&]<typename T>() {
    gemm(Product<T>{matrix_of<const T>(self), matrix_of<const T>(mat2), matrix_of<T>(out)});
  });
}

void addmm(const TensorBase& self, const TensorBase& mat1, const TensorBase& mat2, const Scalar& beta,
           const Scalar& alpha, TensorBase& out) {
  visit_dtype<kNumberTypes>(out.dtype(), "addmm", [&]<typename T>() {
    const DimVector strides = broadcast_strides(self, 2);
    const Matrix<T> c = matrix_of<T>(out);
    const Matrix<const T> add{static_cast<const T*>(self.data_ptr()), c.rows, c.columns, strides[0], strides[1]};
    gemm(sum_of<T>(matrix_of<const T>(mat1), matrix_of<const T>(mat2), c, alpha, beta, add));
  });
}

void bmm(const TensorBase& self, const TensorBase& mat2, TensorBase& out) {
  visit_dtype<kNumberTypes>(out.dtype(), "bmm", [&]<typename T>() {
    gemm_batch(out.size(0), [&](std::int64_t i) {
      return Product<T>{slice<const T>(self, i), slice<const T>(mat2, i), slice<T>(out, i)};
    });
  });
}

void baddbmm(const TensorBase& self, const TensorBase& batch1, const TensorBase& batch2, const Scalar& beta,
             const Scalar& alpha, TensorBase& out) {
  visit_dtype<kNumberTypes>(out.dtype(), "baddbmm", [&]<typename T>() {
    const DimVector strides = broadcast_strides(self, 3);
    gemm_batch(out.size(0), [&](std::int64_t i) {
      const Matrix<T> c = slice<T>(out, i);
      const Matrix<const T> add = {static_cast<const T*>(self.data_ptr()) + i * strides[0], c.rows, c.columns,
                                   strides[1], strides[2]};
      return sum_of<T>(slice<const T>(batch1, i), slice<const T>(batch2, i), c, alpha, beta, add);
    });
  });
}

}  // namespace keyway::inline v1::cpu
