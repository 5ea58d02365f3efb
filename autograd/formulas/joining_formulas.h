// Helpers of the derivatives of joining and splitting.
#pragma once

#include <keyway/core/base/small_vector.h>
#include <keyway/tensor.h>

#include <vector>

namespace keyway::inline v1::autograd {

// The parts of `grad` that belong to tensors of these sizes. Those of shape [0], which cat leaves out, get
// nothing.
KEYWAY_API std::vector<Tensor> cat_backward(const Tensor& grad, const std::vector<DimVector>& sizes, std::int64_t dim);
KEYWAY_API Tensor split_with_sizes_backward(ArrayRef<Tensor> grads, IntArrayRef sizes, IntArrayRef split_sizes,
                                            std::int64_t dim);
KEYWAY_API Tensor unbind_backward(ArrayRef<Tensor> grads, std::int64_t dim);

}  // namespace keyway::inline v1::autograd
