// The conversions of one thread's weights, kept as long as it is in a region.
#pragma once

#include <keyway/core/tensor/tensor_base.h>

namespace keyway::inline v1::autocast {

// `tensor` in another dtype, differentiably: a kept conversion where there is one.
TensorBase cast(const TensorBase& tensor, ScalarType dtype);

// How many regions the thread is in then; -1: it was in none. What is kept goes with the last one.
int leave_region();

}  // namespace keyway::inline v1::autocast
