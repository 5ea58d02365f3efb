// Numbers where an operator takes tensors.
#pragma once

#include <keyway/ops/copy.h>
#include <keyway/ops/creation.h>
#include <keyway/ops/rules/promotion.h>

namespace keyway::inline v1::composite {

// A number as a tensor. Beyond the range of a floating dtype it is infinity.
inline Tensor number_as(const Scalar& number, ScalarType dtype, Device device) {
  return keyway::scalar_tensor(number, TensorOptions().dtype(number.type()).device(device)).to(dtype);
}

// That takes part in promotion as numbers do: by its kind, not its width.
inline Tensor number_beside(const Scalar& number, const Tensor& tensor) {
  return number_as(number, (Promotion() << tensor << number).result(), tensor.device());
}

// The same for an operator that computes integers as floats.
inline Tensor float_beside(const Scalar& number, const Tensor& tensor) {
  return number_as(number, to_float((Promotion() << tensor << number).result()), tensor.device());
}

}  // namespace keyway::inline v1::composite
