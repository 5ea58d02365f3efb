// Atomic additions of all dtypes that have one.
#pragma once

#include <c10/core/ScalarType.h>
#include <keyway_compat/cuda_floats.h>

template <typename T>
__device__ T gpuAtomicAdd(T* address, T value) {
  if constexpr (std::is_same_v<T, keyway::Half>) {
    return atomicAdd(reinterpret_cast<__half*>(address), static_cast<__half>(value));
  } else if constexpr (std::is_same_v<T, keyway::BFloat16>) {
    return atomicAdd(reinterpret_cast<__nv_bfloat16*>(address), static_cast<__nv_bfloat16>(value));
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
