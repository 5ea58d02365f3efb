// Helpers of the derivatives of pointwise operators.
#pragma once

#include <keyway/autograd/node.h>

namespace keyway::inline v1::autograd {

// The complex conjugate; of a real tensor itself.
KEYWAY_API Tensor conj(const Tensor& self);

}  // namespace keyway::inline v1::autograd
