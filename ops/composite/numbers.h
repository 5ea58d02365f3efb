// Numbers where an operator takes tensors.
#pragma once

#include <keyway/tensor.h>

namespace keyway::inline v1::composite {

// A number as a tensor without dimensions, beside `tensor`, that takes part in promotion as numbers do: by its kind
// (bool, integer, floating, complex), not its width.
Tensor number_beside(const Scalar& number, const Tensor& tensor);

}  // namespace keyway::inline v1::composite
