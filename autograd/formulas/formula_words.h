// The words of derivative formulas that are neither operators nor helpers: functions of lists and numbers, and what
// brings values of formulas into the types that operators take.
#pragma once

#include <keyway/autograd/node.h>
#include <keyway/core/dtype/default_dtype.h>
#include <keyway/core/dtype/promote_types.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <optional>
#include <tuple>
#include <vector>

namespace keyway::inline v1::autograd {

// --- Lists

template <typename List>
std::int64_t len(const List& list) {
  return static_cast<std::int64_t>(list.size());
}
// list[i]; i may count from the end. Throws keyway::Error(Index).
template <typename List>
const auto& item(const List& list, std::int64_t i) {
  return list[dim_index(i, len(list))];
}
// list[begin:end], as Python has it.
KEYWAY_API DimVector items(IntArrayRef list, std::optional<std::int64_t> begin, std::optional<std::int64_t> end);
KEYWAY_API std::int64_t sum_of(IntArrayRef list);
KEYWAY_API std::int64_t product_of(IntArrayRef list);

// --- Numbers

// The quotient, rounded down. Throws keyway::Error for a division by zero.
KEYWAY_API std::int64_t floor_div(std::int64_t a, std::int64_t b);

// Integers stay integers where the result is one of int64; a quotient never is one.
KEYWAY_API Scalar operator+(const Scalar& a, const Scalar& b);
KEYWAY_API Scalar operator-(const Scalar& a, const Scalar& b);
KEYWAY_API Scalar operator*(const Scalar& a, const Scalar& b);
KEYWAY_API Scalar operator/(const Scalar& a, const Scalar& b);
// Of real numbers.
KEYWAY_API bool operator<(const Scalar& a, const Scalar& b);
inline bool operator>(const Scalar& a, const Scalar& b) { return b < a; }
inline bool operator<=(const Scalar& a, const Scalar& b) { return a < b || a == b; }
inline bool operator>=(const Scalar& a, const Scalar& b) { return b <= a; }

inline bool is_finite(const Scalar& value) {
  const auto z = value.to<complex<double>>();
  return std::isfinite(z.real()) && std::isfinite(z.imag());
}
template <typename... Values>
bool is_integral(const Values&... values) {
  return (Scalar(values).is_integral(/*include_bool=*/true) && ...);
}

// --- Arguments

// A number where an operator takes a tensor. It has no dimensions, so that it does not change the dtype of those that
// do.
KEYWAY_API Tensor number_tensor(const Scalar& value);
// A list with undefined tensors where the operator takes absent ones.
KEYWAY_API std::vector<std::optional<Tensor>> optional_tensors(ArrayRef<Tensor> tensors);

}  // namespace keyway::inline v1::autograd
