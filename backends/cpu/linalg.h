// Kernels of matrix products, by the names of their operators.
#pragma once

#include <keyway/core/scalar.h>
#include <keyway/core/tensor_base.h>

namespace keyway::inline v1::cpu {

void mm(const TensorBase& self, const TensorBase& mat2, TensorBase& out);
void addmm(const TensorBase& self, const TensorBase& mat1, const TensorBase& mat2, const Scalar& beta,
           const Scalar& alpha, TensorBase& out);
void bmm(const TensorBase& self, const TensorBase& mat2, TensorBase& out);
void baddbmm(const TensorBase& self, const TensorBase& batch1, const TensorBase& batch2, const Scalar& beta,
             const Scalar& alpha, TensorBase& out);

}  // namespace keyway::inline v1::cpu
