// The iteration space of a reduction: that of its input, with the strides of the results, and of the indices of
// elements among those that are reduced.
#pragma once

#include <keyway/core/tensor/iteration_space.h>

namespace keyway::inline v1::detail {

// Operands of such a space. The last is no tensor: its offsets are indices, in row-major order.
enum ReductionOperand { kSelf, kOut, kSecond, kIndex };

// Results do not move along dimensions that are reduced: their strides are 0 there, and only there. `dims` are those,
// all if there are none; `second` may be null. Indices do not move unless `indexed`: so more dimensions are one run.
// Requires: out has self's sizes with 1 for each of dims, or without them, and no two elements in one memory location;
// dims are distinct and in [0, self.dim()), or 0 for a tensor without dimensions; self has elements.
KEYWAY_API void make_reduction_space(IterationSpace& space, const TensorBase& out, const TensorBase* second,
                                     const TensorBase& self, IntArrayRef dims, bool indexed);

}  // namespace keyway::inline v1::detail
