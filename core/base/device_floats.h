// Conversions of narrow floats that CUDA devices have instructions for: one instead of a dozen. They round as
// NarrowFloat says, but have one NaN: its sign and payload are lost.
#pragma once

#if defined(__CUDA_ARCH__)

#include <cstdint>

namespace keyway::inline v1::detail {

// To and from the bits of Half and BFloat16 (PTX ISA, instruction cvt).
inline __device__ float device_float_of_half(std::uint16_t bits) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}
inline __device__ std::uint16_t device_half_of(float x) {
  std::uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
#if __CUDA_ARCH__ >= 800  // older devices have no instruction for it
inline __device__ std::uint16_t device_bfloat16_of(float x) {
  std::uint16_t bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
#endif

}  // namespace keyway::inline v1::detail

#endif
