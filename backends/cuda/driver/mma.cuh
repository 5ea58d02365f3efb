// Instructions that C++ has no words for: products of small matrices by tensor cores, and what feeds them. Every thread
// of the block makes each call but copy_async and those of single numbers. Internal to backends/cuda.
//
// A warp has a matrix among its threads, elements in pairs: thread t has, with row t / 4 and column t % 4 * 2,
//   of 8 x 8 the pair there;
//   of a (16 x 16) those of its quarters: upper left, lower left, upper right, lower right;
//   of b (16 x 8) those of the transpose of its upper half, then of its lower half;
//   of sums (16 x 8) those of its upper half, then of its lower half, as floats.
#pragma once

#include <keyway/core/base/half.h>

#include <cstdint>
#include <type_traits>

namespace keyway::inline v1::cuda::detail {

// sums += a b, of Half or BFloat16.
template <typename T>
__device__ inline void mma_16x8x16(float (&sums)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  if constexpr (std::is_same_v<T, Half>) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
}

// An address in shared memory, as instructions take it.
__device__ inline std::uint32_t shared_address(const void* at) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(at));
}

// Four matrices of 8 x 8 elements of 16 bits from shared memory. `row` of thread t is where row t % 8 of matrix t / 8
// begins, a multiple of 16 bytes.
__device__ inline void load_matrices(const void* row, std::uint32_t (&to)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_address(row)));
}
// Their transposes.
__device__ inline void load_transposed(const void* row, std::uint32_t (&to)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_address(row)));
}

// Begins to copy 4 or 16 bytes to shared memory; unless `exists`, zeros, and nothing is read. They are there after this
// thread has waited; for other threads, after a barrier that follows. Both addresses are multiples of the size.
template <int kBytes>
__device__ inline void copy_async(void* to, const void* from, bool exists) {
  const int bytes = exists ? kBytes : 0;
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(to)), "l"(from), "n"(kBytes),
                 "r"(bytes)
                 : "memory");
  }
}
__device__ inline void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// Two numbers, rounded to Half or BFloat16, the first in the lower bits.
template <typename T>
__device__ inline std::uint32_t pair_of(float first, float second) {
  std::uint32_t pair;
  if constexpr (std::is_same_v<T, Half>) {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  } else {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  }
  return pair;
}

// 2^x, to about 22 bits; what is less than the least normal number is 0.
__device__ inline float fast_exp2(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

}  // namespace keyway::inline v1::cuda::detail
