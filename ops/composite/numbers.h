// Numbers where an operator takes tensors.
#pragma once

#include <keyway/ops/copy.h>
#include <keyway/ops/creation.h>
#include <keyway/ops/rules/promotion.h>

namespace keyway::inline v1::composite {

// A number as a tensor that takes part in promotion as numbers do: by its kind, not its width.
inline Tensor number_beside(const Scalar& number, const Tensor& tensor) {
  const ScalarType dtype = (Promotion() << tensor << number).result();
  return keyway::scalar_tensor(number, TensorOptions().dtype(number.type()).device(tensor.device())).to(dtype);
}

// The same for an operator that computes integers as floats.
inline Tensor float_beside(const Scalar& number, const Tensor& tensor) {
  const ScalarType dtype = to_float((Promotion() << tensor << number).result());
  return keyway::scalar_tensor(number, TensorOptions().dtype(dtype).device(tensor.device()));
}

}  // namespace keyway::inline v1::composite
