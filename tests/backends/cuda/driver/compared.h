// What tests of CUDA's kernels compare with the CPU, and how.
#pragma once

#include <keyway/core/device_guard.h>
#include <keyway/keyway.h>

#include <cstdint>
#include <cstring>

namespace keyway::inline v1::testing {

inline bool has_device() { return device_count(kCUDA) > 0; }

// On the CPU, with the same bits in every element.
inline bool same_bits(const Tensor& there, const Tensor& expected) {
  const Tensor a = there.to(kCPU, there.dtype()).contiguous(), b = expected.contiguous();
  return a.sizes() == b.sizes() && a.dtype() == b.dtype() &&
         (a.numel() == 0 || std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()) == 0);
}

// On the CPU, with the same number in every element, or none in both.
inline bool same_values(const Tensor& there, const Tensor& expected) {
  const Tensor a = there.to(kCPU, there.dtype());
  if (a.sizes() != expected.sizes() || a.dtype() != expected.dtype()) return false;
  const Tensor alike = a.eq(expected).logical_or(a.ne(a).logical_and(expected.ne(expected)));
  return alike.logical_not().sum().item().to<std::int64_t>() == 0;
}

// Whole numbers from `low` to `high`, the same for the same sizes; int64 on the CPU.
inline Tensor scattered(IntArrayRef sizes, std::int64_t low, std::int64_t high) {
  Tensor numbers = empty(sizes, TensorOptions().dtype(kLong));
  auto state = static_cast<std::uint64_t>(numbers.numel());
  for (std::int64_t i = 0; i < numbers.numel(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    numbers.data_ptr<std::int64_t>()[i] = static_cast<std::int64_t>(state >> 33) % (high - low + 1) + low;
  }
  return numbers;
}

}  // namespace keyway::inline v1::testing
