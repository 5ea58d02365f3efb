// Checks of tensors that a CUDA kernel takes.
#pragma once

#include <keyway/core/device/device_guard.h>

#include <ATen/core/Tensor.h>
#include <ATen/cuda/CUDAContext.h>

namespace at::cuda {

// Whether all tensors are on the current CUDA device.
inline bool check_device(ArrayRef<Tensor> tensors) {
  const Device current = current_device(DeviceType::CUDA);
  for (const Tensor& tensor : tensors)
    if (tensor.device() != current) return false;
  return true;
}

}  // namespace at::cuda
