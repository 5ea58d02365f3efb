// Helpers of the derivatives of matrix products, and of sums with factors.
#pragma once

#include <keyway/autograd/node.h>

namespace keyway::inline v1::autograd {

// grad * factor; `grad` itself for the factor 1, which is what most are.
KEYWAY_API Tensor scaled(const Tensor& grad, const Scalar& factor);
// The product of two matrices, or of two batches of them, in the order of dimensions that `strides` has: the gradient
// of a transposed matrix is laid out as that is, so that its parameter's gradient is contiguous.
KEYWAY_API Tensor product_like(const Tensor& a, const Tensor& b, IntArrayRef strides);

}  // namespace keyway::inline v1::autograd
