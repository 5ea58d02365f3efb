// multiply: products of matrices, for the kernels that are made of them. Internal to backends/cuda.
#pragma once

#include <keyway/core/dtype/scalar.h>
#include <keyway/core/tensor/tensor_base.h>

namespace keyway::inline v1::cuda {

// out = alpha * a b + beta * add. [m, n], [m, k] and [k, n], or each with as many matrices before that. Any strides.
struct MatrixProduct {
  const TensorBase& a;
  const TensorBase& b;
  const TensorBase& out;
  Scalar alpha = 1;
  Scalar beta = 0;
  TensorBase add = {};  // of out's sizes, and may be out; not read where beta is 0
};

// cuBLASLt's or own, as multiply.cu says. Requires: the sizes fit; a and b are of one dtype, out and add of the same,
// or of the one that its products are summed in (product.h); all lie on the current device.
void multiply(const MatrixProduct& product);

}  // namespace keyway::inline v1::cuda
