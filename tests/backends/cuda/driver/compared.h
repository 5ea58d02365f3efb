// What tests of CUDA's kernels compare with the CPU, and how.
#pragma once

#include <keyway/core/device/device_guard.h>
#include <keyway/keyway.h>
#include <keyway/tests/backends/cuda/has_device.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

namespace keyway::inline v1::testing {

// Whether there is a device that computes products of floats: one test takes cuBLASLt away.
inline bool has_products() {
  const char* const wish = std::getenv("KEYWAY_EMULATED_CUBLAS_LT");
  return has_device() && (wish == nullptr || std::string_view(wish) != "missing");
}

// Whether devices are real ones: what would take emulated ones minutes waits for these.
inline bool is_fast() { return has_device() && std::getenv("KEYWAY_EMULATED_CUDA") == nullptr; }

using Sizes = std::vector<std::int64_t>;

// The same elements and strides on the device. An undefined tensor stays so.
inline Tensor on_cuda(const Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  const Tensor there = Tensor(make_tensor_strided(tensor.sizes(), tensor.strides(), tensor.dtype(), Device("cuda:0")));
  Tensor(there).copy_(tensor);
  return there;
}

// The same elements, `offset` elements behind the beginning of their memory, and rows so much longer.
inline Tensor behind(const Tensor& x, std::int64_t offset, std::int64_t longer) {
  DimVector sizes(x.sizes().begin(), x.sizes().end());
  sizes.back() += longer;
  const Tensor memory = empty({offset + Tensor(empty(sizes, TensorOptions().device(kCPU))).numel()},
                              TensorOptions().dtype(x.dtype()).device(x.device()));
  Tensor moved = memory.narrow(0, offset, memory.numel() - offset).view(sizes).narrow(-1, 0, x.sizes().back());
  moved.copy_(x);
  return moved;
}

// On the CPU, with the same bits in every element.
inline bool same_bits(const Tensor& there, const Tensor& expected) {
  const Tensor a = there.to(kCPU, there.dtype()).contiguous(), b = expected.contiguous();
  return a.sizes() == b.sizes() && a.dtype() == b.dtype() &&
         (a.numel() == 0 || std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()) == 0);
}

// On the CPU, with the same number in every element, or none in both; or both undefined.
inline bool same_values(const Tensor& there, const Tensor& expected) {
  if (!there.defined() || !expected.defined()) return there.defined() == expected.defined();
  const Tensor a = there.to(kCPU, there.dtype());
  if (a.sizes() != expected.sizes() || a.dtype() != expected.dtype()) return false;
  const Tensor alike = a.eq(expected).logical_or(a.ne(a).logical_and(expected.ne(expected)));
  return alike.logical_not().sum().item().to<std::int64_t>() == 0;
}

// Whether a result of the device is the CPU's, but for a rounding of `tolerance`; NaN is NaN.
inline bool is_close(const Tensor& there, const Tensor& here, double tolerance) {
  if (there.defined() != here.defined()) return false;
  if (!here.defined()) return true;
  if (there.sizes() != here.sizes() || there.dtype() != here.dtype()) return false;
  const Tensor a = there.to(kCPU, kDouble).contiguous(), b = here.to(kCPU, kDouble).contiguous();
  for (std::int64_t i = 0; i < a.numel(); ++i) {
    const double x = a.data_ptr<double>()[i], y = b.data_ptr<double>()[i];
    if (!(x == y || (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= tolerance * (1 + std::abs(y)))) return false;
  }
  return true;
}

// What rounding in another order may change.
inline double tolerance_of(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Double: return 1e-12;
    case ScalarType::Float: return 1e-5;
    case ScalarType::Half: return 2e-3;
    default: return 2e-2;
  }
}

// Whole numbers from `low` to `high`, the same for the same sizes and seed; int64 on the CPU.
inline Tensor scattered(IntArrayRef sizes, std::int64_t low, std::int64_t high, std::int64_t seed = 0) {
  Tensor numbers = empty(sizes, TensorOptions().dtype(kLong));
  auto state = static_cast<std::uint64_t>(numbers.numel() + seed);
  for (std::int64_t i = 0; i < numbers.numel(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    numbers.data_ptr<std::int64_t>()[i] = static_cast<std::int64_t>(state >> 33) % (high - low + 1) + low;
  }
  return numbers;
}

inline constexpr ScalarType kFloatDtypes[] = {kFloat, kDouble, kHalf, kBFloat16};

// Numbers of the normal distribution.
inline Tensor normal_numbers(IntArrayRef sizes, ScalarType dtype) {
  return randn(sizes, TensorOptions()).to(kCPU, dtype);
}

}  // namespace keyway::inline v1::testing
