// CUDA's streams, devices and checks, as kernels need them.
#pragma once

#include <ATen/cuda/Exceptions.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <map>

namespace at::cuda {

inline bool is_available() { return c10::cuda::device_count() > 0; }

// Of the current device, or of the one with that index. Asked for once a thread and device.
inline const cudaDeviceProp* getDeviceProperties(std::int64_t device) {
  thread_local std::map<std::int64_t, cudaDeviceProp> known;
  const auto place = known.find(device);
  if (place != known.end()) return &place->second;
  cudaDeviceProp properties;
  C10_CUDA_CHECK(cudaGetDeviceProperties(&properties, static_cast<int>(device)));
  return &known.emplace(device, properties).first->second;
}
inline const cudaDeviceProp* getCurrentDeviceProperties() { return getDeviceProperties(c10::cuda::current_device()); }
inline int warp_size() { return getCurrentDeviceProperties()->warpSize; }

}  // namespace at::cuda
