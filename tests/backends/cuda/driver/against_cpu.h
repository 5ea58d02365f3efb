// Calls on a CUDA device whose results are to have the bits of the CPU's; and operands for them.
#pragma once

#include <keyway/core/device_guard.h>
#include <keyway/keyway.h>
#include <keyway/tests/catch.h>

#include <cstdint>
#include <cstring>
#include <functional>

namespace keyway::inline v1::testing {

inline bool has_device() { return device_count(kCUDA) > 0; }

inline bool same(const Tensor& there, const Tensor& expected) {
  const Tensor a = there.to(kCPU, there.dtype()).contiguous(), b = expected.contiguous();
  return there.device().type() == kCUDA && a.sizes() == b.sizes() && a.dtype() == b.dtype() &&
         (a.numel() == 0 || std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()) == 0);
}

// Where the operands of a call are put.
using Place = std::function<Tensor(const Tensor&)>;

// Of `call(place)`, with all operands on the device, and on the CPU.
inline void check(const std::function<Tensor(const Place&)>& call) {
  const Tensor expected = call([](const Tensor& tensor) { return tensor.clone(); });
  const Tensor there = call([](const Tensor& tensor) { return tensor.to(kCUDA, tensor.dtype()); });
  CHECK(same(there, expected));
}

// Whole numbers in [low, high) without an order, the same for the same size.
inline Tensor indices(IntArrayRef sizes, std::int64_t low, std::int64_t high, ScalarType dtype = kLong) {
  const Tensor numbers = empty(sizes, TensorOptions().dtype(kLong));
  auto state = static_cast<std::uint64_t>(numbers.numel() + high);
  for (std::int64_t i = 0; i < numbers.numel(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    numbers.data_ptr<std::int64_t>()[i] = low + static_cast<std::int64_t>(state >> 33) % (high - low);
  }
  return numbers.to(dtype);
}

// Numbers whose sum is another one in another order.
inline Tensor values(IntArrayRef sizes, ScalarType dtype) {
  const Tensor numbers = indices(sizes, -99, 100).to(kDouble);
  return (numbers * numbers * numbers).div(777.0).to(dtype);
}

}  // namespace keyway::inline v1::testing
