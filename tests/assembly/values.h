// Tensors from numbers and back.
#pragma once

#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/all.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace keyway::inline v1::testing {

// A contiguous tensor of `values`.
inline Tensor tensor_of(const std::vector<double>& values, IntArrayRef sizes, ScalarType dtype = kFloat) {
  const Tensor tensor(make_tensor(sizes, dtype, DeviceType::CPU));
  visit_dtype<kRealTypes | kBool>(dtype, "tensor_of", [&]<typename T>() {
    for (std::size_t i = 0; i < values.size(); ++i) tensor.data_ptr<T>()[i] = static_cast<T>(values[i]);
  });
  return tensor;
}
inline Tensor vector_of(const std::vector<double>& values, ScalarType dtype = kFloat) {
  return tensor_of(values, {static_cast<std::int64_t>(values.size())}, dtype);
}

inline void append_values(const Tensor& tensor, std::int64_t offset, std::size_t dim, std::vector<double>& out) {
  if (dim < tensor.sizes().size()) {
    for (std::int64_t i = 0; i < tensor.sizes()[dim]; ++i) {
      append_values(tensor, offset + i * tensor.strides()[dim], dim + 1, out);
    }
    return;
  }
  visit_dtype<kRealTypes | kBool>(tensor.dtype(), "values_of", [&]<typename T>() {
    out.push_back(static_cast<double>(tensor.data_ptr<T>()[offset]));
  });
}
// The elements in row-major order; reads memory, and calls no operator.
inline std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> out;
  append_values(tensor, 0, 0, out);
  return out;
}

}  // namespace keyway::inline v1::testing
