// Comparisons of values: what operands of different dtypes are compared in. PyTorch compares what they are converted
// to, and of int64 with uint64 nothing; docs/decisions/0002-comparisons.md says why it is otherwise here.
#pragma once

#include <keyway/core/dtype/scalar.h>
#include <keyway/ops/rules/broadcast.h>

namespace keyway::inline v1 {

namespace detail {
KEYWAY_API ScalarType common_of_compared(const TensorBase& a, const TensorBase& b);
}

// Whether no dtype that is made of both holds the values of both: an integer one that the floating one rounds, uint64
// and a signed one.
KEYWAY_API bool is_compared_three_way(ScalarType a, ScalarType b);
// The same of a dtype and a number that is compared with its elements: of integers, where the number is beyond their
// range, or they or it would be rounded to the default dtype. A number that is compared with floats is rounded as they
// are.
KEYWAY_API bool is_compared_three_way(ScalarType dtype, const Scalar& number);

// The dtype that kernels of comparisons compare two tensors in: what they promote to, integers whatever their ranks, if
// it holds the values of both, and else float32, which holds the results of _three_way_compare.
inline ScalarType compared_dtype(const TensorBase& a, const TensorBase& b) {
  return a.dtype() == b.dtype() ? a.dtype() : detail::common_of_compared(a, b);
}

namespace rules {

inline OutputMeta _three_way_compare(const TensorBase& self, const TensorBase& other) {
  return pointwise_meta({&self, &other});
}

}  // namespace rules

}  // namespace keyway::inline v1
