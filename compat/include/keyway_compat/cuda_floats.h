// CUDA's 16-bit floats and Keyway's: they convert into one another, and sources compute with both.
#pragma once

#include <keyway/core/base/bfloat16.h>
#include <keyway/core/base/half.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace keyway::inline v1::detail {
template <>
inline constexpr bool kIsSameFormat<__half, Half> = true;
template <>
inline constexpr bool kIsSameFormat<__nv_bfloat16, BFloat16> = true;
}  // namespace keyway::inline v1::detail

#if defined(__CUDACC__)
// Loads through the read-only cache, beside CUDA's own.
namespace keyway::inline v1 {
__device__ __forceinline__ Half __ldg(const Half* address) { return ::__ldg(reinterpret_cast<const __half*>(address)); }
__device__ __forceinline__ BFloat16 __ldg(const BFloat16* address) {
  return ::__ldg(reinterpret_cast<const __nv_bfloat16*>(address));
}
}  // namespace keyway::inline v1
#endif
