// Tensors from numbers and back, for tests.
#pragma once

#include <keyway/ops/all.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace keyway::inline v1::testing {

// A contiguous tensor of `values`.
inline Tensor tensor_of(const std::vector<double>& values, IntArrayRef sizes, ScalarType dtype = kDouble) {
  const Tensor tensor = keyway::empty(sizes, kDouble);
  for (std::size_t i = 0; i < values.size(); ++i) tensor.data_ptr<double>()[i] = values[i];
  return tensor.to(dtype);
}

inline std::vector<double> values_of(const Tensor& tensor) {
  const Tensor flat = tensor.detach().to(kDouble).contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

// Numbers of mixed signs and magnitudes below 2, the same each time.
inline std::vector<double> some_values(std::size_t count, std::uint64_t seed = 1) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    values.push_back(static_cast<double>(static_cast<std::int64_t>(seed) >> 11) * 0x1p-51);
  }
  return values;
}
inline Tensor some_tensor(IntArrayRef sizes, std::uint64_t seed = 1, ScalarType dtype = kDouble) {
  std::size_t count = 1;
  for (const std::int64_t size : sizes) count *= static_cast<std::size_t>(size);
  return tensor_of(some_values(count, seed), sizes, dtype);
}

inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return INFINITY;
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

// A module with parameters and buffers of doubles.
template <typename Holder>
Holder exact(Holder holder) {
  holder->to(kDouble);
  return holder;
}

}  // namespace keyway::inline v1::testing
