// In the place of the backend's own: threads of a warp tell each other values in memory. A value has its place in the
// order of threads of the block, of which all call it.
#pragma once

#include <cstdint>

namespace keyway::inline v1::cuda::detail {

inline constexpr std::uint32_t kWarp = 32;

template <typename T>
T from_thread(const T& mine, std::uint32_t thread) {
  constexpr std::uint32_t kMostThreads = 1024;
  alignas(T) static unsigned char memory[kMostThreads * sizeof(T)];
  T* const all = reinterpret_cast<T*>(memory);
  all[threadIdx.x] = mine;
  __syncthreads();
  const T other = all[thread];
  __syncthreads();
  return other;
}

template <typename T>
T from_further(const T& mine, std::uint32_t distance) {
  const std::uint32_t lane = threadIdx.x % kWarp;
  return from_thread(mine, lane + distance < kWarp ? threadIdx.x + distance : threadIdx.x);
}
template <typename T>
T from_lane(const T& mine, std::uint32_t lane) {
  return from_thread(mine, threadIdx.x - threadIdx.x % kWarp + lane % kWarp);
}

}  // namespace keyway::inline v1::cuda::detail
