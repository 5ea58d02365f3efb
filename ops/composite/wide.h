// What is computed in where several steps lie between elements and a result: 16-bit floats in float32, so that no step
// rounds or overflows which the result does not show.
#pragma once

#include <keyway/ops/all.h>

namespace keyway::inline v1::composite {

inline ScalarType wide_dtype(ScalarType dtype) {
  if (dtype == kHalf || dtype == kBFloat16) return kFloat;
  return dtype == ScalarType::ComplexHalf ? ScalarType::ComplexFloat : dtype;
}

inline Tensor widened(const Tensor& x) {
  const ScalarType dtype = wide_dtype(x.dtype());
  return dtype == x.dtype() ? x : x.to(dtype);
}

// What came of widened elements of `dtype`.
inline Tensor narrowed(const Tensor& result, ScalarType dtype) {
  return wide_dtype(dtype) == dtype ? result : result.to(dtype);
}

}  // namespace keyway::inline v1::composite
