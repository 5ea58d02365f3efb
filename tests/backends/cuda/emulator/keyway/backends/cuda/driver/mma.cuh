// In the place of the backend's own: the same functions, over memory that the threads of a warp share (mma.cpp). Every
// thread of the block makes each call but copy_async and those of single numbers.
#pragma once

#include <keyway/core/base/bfloat16.h>
#include <keyway/core/base/half.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace emulator {

void mma_16x8x16(float (&sums)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1, bool is_half);
void load_matrices(const void* row, std::uint32_t (&to)[4], bool is_transposed);
void copy_async(void* to, const void* from, int bytes);  // zeros from null
void wait_for_copies();

}  // namespace emulator

namespace keyway::inline v1::cuda::detail {

template <typename T>
void mma_16x8x16(float (&sums)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  emulator::mma_16x8x16(sums, a, b0, b1, std::is_same_v<T, Half>);
}

inline void load_matrices(const void* row, std::uint32_t (&to)[4]) { emulator::load_matrices(row, to, false); }
inline void load_transposed(const void* row, std::uint32_t (&to)[4]) { emulator::load_matrices(row, to, true); }

template <int kBytes>
void copy_async(void* to, const void* from, bool exists) {
  emulator::copy_async(to, exists ? from : nullptr, kBytes);
}
inline void wait_for_copies() { emulator::wait_for_copies(); }

template <typename T>
std::uint32_t pair_of(float first, float second) {
  const auto bits = [](float number) -> std::uint32_t { return std::bit_cast<std::uint16_t>(static_cast<T>(number)); };
  return bits(first) | bits(second) << 16;
}

inline float fast_exp2(float x) { return std::exp2(x); }

}  // namespace keyway::inline v1::cuda::detail
