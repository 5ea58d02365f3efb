// Tensors handed out and taken by DLPack.
#pragma once

#include <keyway/core/tensor/dlpack.h>

#include <ATen/core/Tensor.h>
#include <ATen/dlpack.h>

namespace at {

inline DLManagedTensor* toDLPack(const Tensor& tensor) { return keyway::dlpack::to_dlpack(tensor); }
inline DLManagedTensorVersioned* toDLPackVersioned(const Tensor& tensor) {
  return keyway::dlpack::to_dlpack_versioned(tensor);
}
inline Tensor fromDLPack(DLManagedTensor* managed) { return keyway::dlpack::from_dlpack(managed); }
inline Tensor fromDLPackVersioned(DLManagedTensorVersioned* managed) { return keyway::dlpack::from_dlpack(managed); }
// Errors (Dtype, NotImplemented): what DLPack does not have, or what only it has.
inline DLDataType getDLDataType(const Tensor& tensor) {
  const auto type = keyway::dlpack::to_dlpack(tensor.dtype());
  KEYWAY_CHECK_AS(Dtype, type, "DLPack has no dtype {}", tensor.dtype());
  return *type;
}
inline ScalarType toScalarType(const DLDataType& type) {
  const auto dtype = keyway::dlpack::from_dlpack(type);
  KEYWAY_CHECK_AS(Dtype, dtype, "no dtype is what DLPack calls code {}, {} bits", static_cast<int>(type.code),
                  static_cast<int>(type.bits));
  return *dtype;
}

}  // namespace at
