// IterationSpace: the common iteration space of some tensors of one shape, with as few dimensions as possible. What
// drivers of kernels begin with, on every backend.
#pragma once

#include <keyway/core/tensor/geometry.h>
#include <keyway/core/tensor/tensor_base.h>

#include <cstdint>

namespace keyway::inline v1 {

// Dimension 0 is the innermost. Dimensions of size 1 are gone, and the others are ordered and merged as simplify() does
// it: contiguous tensors have one dimension left, a single element none.
struct IterationSpace {
  static constexpr int kMaxOperands = 4;

  int rank = 0;
  int operands = 0;
  char* data[kMaxOperands];
  std::int64_t sizes[kMaxDims];
  std::int64_t strides[kMaxOperands][kMaxDims];  // in bytes; 0 where an operand is broadcast

  // 1 and 0 beyond the rank.
  std::int64_t size(int d) const { return d < rank ? sizes[d] : 1; }
  std::int64_t stride(int operand, int d) const { return d < rank ? strides[operand][d] : 0; }
};

// The space of `sizes`; each operand broadcasts to it. Requires: 1 to 4 operands; no size is 0.
KEYWAY_API void make_iteration_space(IterationSpace& space, IntArrayRef sizes, const TensorBase* const* operands,
                                     int count);

// The tensor with `sizes`, to which it broadcasts: a view, whose strides are 0 where one element stands for many. For
// kernels of operators that broadcast, which get their operands as they are. Throws keyway::Error(Value) if it does not
// broadcast to them.
KEYWAY_API TensorBase expanded_to(const TensorBase& tensor, IntArrayRef sizes);

// Dimensions are ordered pair by pair: by the strides of the first operand that is broadcast in neither dimension;
// equal strides by size, then by the next operand; what cannot be compared keeps its place. Adjacent dimensions that
// are contiguous for every operand are then merged.
KEYWAY_API void simplify(IterationSpace& space);

}  // namespace keyway::inline v1
