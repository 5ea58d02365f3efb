// What the threads of a warp tell each other. Internal to backends/cuda.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace keyway::inline v1::cuda::detail {

inline constexpr std::uint32_t kWarp = 32;

// Calls exchange(word) with the words of a value, and puts together what they become.
template <typename T, typename Exchange>
__device__ T exchange_words(const T& mine, const Exchange& exchange) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::uint32_t words[(sizeof(T) + 3) / 4] = {};
  std::memcpy(words, &mine, sizeof(T));
  for (std::uint32_t& word : words) word = exchange(word);
  T other = mine;
  std::memcpy(&other, words, sizeof(T));
  return other;
}

// The value of the thread that is `distance` further in the warp; its own where there is none. Every thread of the
// block calls it.
template <typename T>
__device__ T from_further(const T& mine, std::uint32_t distance) {
  return exchange_words(mine, [&](std::uint32_t word) { return __shfl_down_sync(0xffffffffu, word, distance); });
}
// That of the warp's thread `lane`, which may be another one for each caller. Every thread of the block calls it.
template <typename T>
__device__ T from_lane(const T& mine, std::uint32_t lane) {
  return exchange_words(mine,
                        [&](std::uint32_t word) { return __shfl_sync(0xffffffffu, word, static_cast<int>(lane)); });
}

}  // namespace keyway::inline v1::cuda::detail
