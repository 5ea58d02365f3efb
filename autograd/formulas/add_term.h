// add_term: a sum of gradients, of which some may not be there.
#pragma once

#include <keyway/tensor.h>

namespace keyway::inline v1::autograd {

// Adds `term` to a sum; undefined stands for zero.
KEYWAY_API void add_term(Tensor& sum, const Tensor& term);

}  // namespace keyway::inline v1::autograd
