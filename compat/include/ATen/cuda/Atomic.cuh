// Atomic additions of all dtypes that have one.
#pragma once

#include <c10/core/ScalarType.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <typename T>
__device__ T gpuAtomicAdd(T* address, T value) {
  if constexpr (std::is_same_v<T, keyway::Half>) {
    const __half before = atomicAdd(reinterpret_cast<__half*>(address), __float2half(static_cast<float>(value)));
    return static_cast<T>(__half2float(before));
  } else if constexpr (std::is_same_v<T, keyway::BFloat16>) {
    const __nv_bfloat16 before =
        atomicAdd(reinterpret_cast<__nv_bfloat16*>(address), __float2bfloat16(static_cast<float>(value)));
    return static_cast<T>(__bfloat162float(before));
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return static_cast<T>(
        atomicAdd(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(value)));
  } else {
    return atomicAdd(address, value);
  }
}
template <typename T>
__device__ void gpuAtomicAddNoReturn(T* address, T value) {
  gpuAtomicAdd(address, value);
}
