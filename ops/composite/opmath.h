// What is computed in where several steps lie between elements and a result: 16-bit floats in float32, so that no step
// rounds or overflows which the result does not show.
#pragma once

#include <keyway/ops/all.h>

namespace keyway::inline v1::composite {

inline ScalarType opmath_dtype(ScalarType dtype) {
  if (dtype == kHalf || dtype == kBFloat16) return kFloat;
  return dtype == ScalarType::ComplexHalf ? ScalarType::ComplexFloat : dtype;
}

inline Tensor to_opmath(const Tensor& x) {
  const ScalarType dtype = opmath_dtype(x.dtype());
  return dtype == x.dtype() ? x : x.to(dtype);
}

// What was computed from to_opmath() of a tensor of `dtype`, in that dtype.
inline Tensor narrowed(const Tensor& result, ScalarType dtype) {
  return opmath_dtype(dtype) == dtype ? result : result.to(dtype);
}

}  // namespace keyway::inline v1::composite
