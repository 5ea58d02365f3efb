// Calls on a CUDA device whose results are to have the bits of the CPU's, or its values; and operands for them.
#pragma once

#include <keyway/keyway.h>
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/catch.h>

#include <cstdint>
#include <functional>

namespace keyway::inline v1::testing {

// Where the operands of a call are put.
using Placement = std::function<Tensor(const Tensor&)>;

// Of `call(placement)`, with all operands on the device, and on the CPU. `same` is same_values where a result may be
// NaN: an x86 has another one than NVIDIA's devices.
inline void check(const std::function<Tensor(const Placement&)>& call,
                  bool (*same)(const Tensor&, const Tensor&) = same_bits) {
  const Tensor expected = call([](const Tensor& tensor) { return tensor.clone(); });
  const Tensor there = call([](const Tensor& tensor) { return tensor.to(kCUDA, tensor.dtype()); });
  CHECK(there.device().type() == kCUDA);
  CHECK(same(there, expected));
}

// Whole numbers in [low, high), as indices may be.
inline Tensor indices(IntArrayRef sizes, std::int64_t low, std::int64_t high, ScalarType dtype = kLong) {
  return scattered(sizes, low, high - 1).to(dtype);
}

// Numbers whose sum is another one in another order.
inline Tensor values(IntArrayRef sizes, ScalarType dtype) {
  const Tensor numbers = scattered(sizes, -99, 99).to(kDouble);
  return (numbers * numbers * numbers).div(777.0).to(dtype);
}

}  // namespace keyway::inline v1::testing
