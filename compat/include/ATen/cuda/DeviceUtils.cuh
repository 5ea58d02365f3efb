// What the threads of a warp ask each other, under PyTorch's names.
#pragma once

#include <ATen/OpMathType.h>
#include <c10/util/Half.h>
#include <c10/util/complex.h>
#include <cuda.h>

namespace keyway_compat {

// CUDA's functions exchange numbers of 32 and 64 bits; what is narrower goes as the bits of one.
template <typename T, typename Exchange>
__device__ __forceinline__ T exchange(T value, Exchange exchange_word) {
  static_assert(sizeof(T) <= 8 || sizeof(T) % 8 == 0);
  if constexpr (sizeof(T) <= 8) {
    unsigned long long word = 0;
    memcpy(&word, &value, sizeof(T));
    word = exchange_word(word);
    memcpy(&value, &word, sizeof(T));
  } else {
    unsigned long long words[sizeof(T) / 8];
    memcpy(words, &value, sizeof(T));
    for (unsigned long long& word : words) word = exchange_word(word);
    memcpy(&value, words, sizeof(T));
  }
  return value;
}

}  // namespace keyway_compat

__device__ __forceinline__ unsigned int WARP_BALLOT(int predicate, unsigned int mask = 0xffffffffu) {
  return __ballot_sync(mask, predicate);
}
__device__ __forceinline__ unsigned long long int WARP_ACTIVEMASK() { return __activemask(); }
__device__ __forceinline__ void WARP_SYNC(unsigned int mask = 0xffffffffu) { __syncwarp(mask); }

template <typename T>
__device__ __forceinline__ T WARP_SHFL(T value, int from, int width = warpSize, unsigned int mask = 0xffffffffu) {
  return keyway_compat::exchange(value, [=](unsigned long long word) { return __shfl_sync(mask, word, from, width); });
}
template <typename T>
__device__ __forceinline__ T WARP_SHFL_XOR(T value, int lanes, int width = warpSize, unsigned int mask = 0xffffffffu) {
  return keyway_compat::exchange(value,
                                 [=](unsigned long long word) { return __shfl_xor_sync(mask, word, lanes, width); });
}
template <typename T>
__device__ __forceinline__ T WARP_SHFL_UP(T value, unsigned int delta, int width = warpSize,
                                          unsigned int mask = 0xffffffffu) {
  return keyway_compat::exchange(value,
                                 [=](unsigned long long word) { return __shfl_up_sync(mask, word, delta, width); });
}
template <typename T>
__device__ __forceinline__ T WARP_SHFL_DOWN(T value, unsigned int delta, int width = warpSize,
                                            unsigned int mask = 0xffffffffu) {
  return keyway_compat::exchange(value,
                                 [=](unsigned long long word) { return __shfl_down_sync(mask, word, delta, width); });
}

// Reads memory that the kernel does not write.
template <typename T>
__device__ __forceinline__ T doLdg(const T* address) {
  return *address;
}
