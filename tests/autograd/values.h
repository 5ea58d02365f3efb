// Tensors of given numbers, the numbers of a tensor, and what an error text lacks.
#pragma once

#include <keyway/keyway.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1::testing {

using Values = std::vector<double>;

// One dimension, of float64.
inline Tensor numbers(const Values& values) {
  const Tensor result = zeros({static_cast<std::int64_t>(values.size())}, kDouble);
  std::copy(values.begin(), values.end(), result.data_ptr<double>());
  return result;
}
// The same as a leaf that requires a gradient.
inline Tensor leaf(const Values& values) { return numbers(values).requires_grad_(); }

// In row-major order; empty for an undefined tensor.
inline Values values_of(const Tensor& tensor) {
  if (!tensor.defined()) return {};
  const Tensor contiguous = tensor.detach().contiguous();
  const double* data = contiguous.data_ptr<double>();
  return Values(data, data + contiguous.numel());
}

// Empty if `text` has all of `parts`; else both, to be read in a failure.
inline std::string lacks(const std::string& text, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    if (text.find(part) == std::string::npos) return "'" + text + "' lacks '" + std::string(part) + "'";
  }
  return "";
}

}  // namespace keyway::inline v1::testing
