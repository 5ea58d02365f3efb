// Tensors, dtypes and devices in namespace torch.
#pragma once

#include <ATen/ATen.h>

namespace torch {
inline constexpr keyway::ScalarType kU8 = keyway::kUInt8, kI8 = keyway::kInt8, kI16 = keyway::kInt16,
                                    kI32 = keyway::kInt32, kI64 = keyway::kInt64, kF16 = keyway::kFloat16,
                                    kF32 = keyway::kFloat32, kF64 = keyway::kFloat64;
using Dtype = keyway::ScalarType;
}  // namespace torch
