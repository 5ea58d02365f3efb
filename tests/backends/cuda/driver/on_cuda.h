// What tests need that compare a CUDA device with the CPU.
#pragma once

#include <keyway/core/device_guard.h>
#include <keyway/keyway.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace keyway::inline v1::testing {

using Sizes = std::vector<std::int64_t>;

inline bool has_cuda() { return device_count(kCUDA) > 0; }

// The same elements and strides on the device. An undefined tensor stays so.
inline Tensor on_cuda(const Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  const Tensor there = Tensor(make_tensor_strided(tensor.sizes(), tensor.strides(), tensor.dtype(), Device("cuda:0")));
  Tensor(there).copy_(tensor);
  return there;
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

// Whether it is the CPU's bit by bit.
inline bool is_same(const Tensor& there, const Tensor& here) {
  if (there.sizes() != here.sizes() || there.dtype() != here.dtype()) return false;
  const Tensor a = there.to(kCPU, there.dtype()).contiguous(), b = here.contiguous();
  return a.numel() == 0 || std::memcmp(a.data_ptr(), b.data_ptr(), b.nbytes()) == 0;
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

}  // namespace keyway::inline v1::testing
