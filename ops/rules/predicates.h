// Predicates: the functions that contracts and dtype rules call. Generated guards spell them contract::name.
//
// None of them overflows, whatever the integers. Those that compute take the contract's text, for the error
// of a computation that leaves 64 bits. Those that answer yes or no about several things say why it is no, if
// asked.
#pragma once

#include <keyway/core/base/small_vector.h>
#include <keyway/core/dtype/default_dtype.h>
#include <keyway/core/dtype/promote_types.h>
#include <keyway/core/dtype/scalar.h>
#include <keyway/core/tensor/tensor_base.h>
#include <keyway/ops/rules/contracts.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace keyway::inline v1::contract {

// --- Lists and numbers

template <typename L>
std::int64_t len(const L& list) {
  return static_cast<std::int64_t>(list.size());
}
template <typename T>
bool in(const T& value, std::initializer_list<std::type_identity_t<T>> choices) {
  for (const T& choice : choices) {
    if (value == choice) return true;
  }
  return false;
}
// f of a tensor, absent if the tensor is.
template <typename F>
auto if_defined(const TensorBase& tensor, F&& f) {
  return tensor.defined() ? std::optional(f(tensor)) : std::nullopt;
}
// What is absent in a list does not count.
template <typename L>
bool all(const L& values) {
  for (const auto& value : values) {
    if (value == false) return false;
  }
  return true;
}
template <typename L>
bool any(const L& values) {
  for (const auto& value : values) {
    if (value == true) return true;
  }
  return false;
}
inline std::int64_t max(std::int64_t a, std::int64_t b) { return a > b ? a : b; }
inline std::int64_t min(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
// Throws for an empty list.
KEYWAY_API std::int64_t max(IntArrayRef list);
KEYWAY_API std::int64_t min(IntArrayRef list);
KEYWAY_API std::int64_t sum(IntArrayRef list, std::string_view text);
KEYWAY_API std::int64_t product(IntArrayRef list, std::string_view text);
inline std::int64_t abs(std::int64_t value, std::string_view text) { return value < 0 ? sub(0, value, text) : value; }
inline double abs(double value, std::string_view) { return value < 0 ? -value : value; }
// Quotient rounded to minus infinity.
inline std::int64_t floor_div(std::int64_t a, std::int64_t b, std::string_view text) {
  const std::int64_t quotient = div(a, b, text);
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

KEYWAY_API bool is_finite(const Scalar& value);
inline bool is_bool(const Scalar& value) { return value.is_bool(); }
// Whether all the numbers that are given are integers or bools.
inline bool is_integral(const Scalar& first, const std::optional<Scalar>& second = std::nullopt,
                        const std::optional<Scalar>& third = std::nullopt) {
  return first.is_integral(true) && (!second || second->is_integral(true)) && (!third || third->is_integral(true));
}
// Exact, whatever the two are held as; NaN compares false with everything. Throws for complex numbers.
KEYWAY_API bool less(const Scalar& a, const Scalar& b);
KEYWAY_API bool less_equal(const Scalar& a, const Scalar& b);

// --- Dimensions and shapes

// size(dim) of an argument; the error of a dimension that it has not names the argument.
namespace detail {
[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_size(std::string_view argument, IntArrayRef sizes, std::int64_t dim);
}
inline std::int64_t size(const TensorBase& tensor, std::string_view argument, std::int64_t dim) {
  const IntArrayRef sizes = tensor.sizes();
  const std::int64_t rank = len(sizes);
  if (dim < -rank || dim >= rank) [[unlikely]]
    detail::fail_size(argument, sizes, dim);
  return sizes[static_cast<std::size_t>(dim < 0 ? dim + rank : dim)];
}

// Whether `dim` names a dimension, from the front or, negative, from the end. A tensor without any has -1 and
// 0.
inline bool is_dim(std::int64_t dim, std::int64_t rank) {
  const std::int64_t dims = max(rank, 1);
  return -dims <= dim && dim < dims;
}
KEYWAY_API bool is_dim(std::int64_t dim, std::int64_t rank, Refusal* why);
// Whether all are dimensions, none of them twice.
KEYWAY_API bool are_dims(IntArrayRef dims, std::int64_t rank, Refusal* why = nullptr);
// `dim` counted from the front. Throws for one that is no dimension.
inline std::int64_t wrap_dim(std::int64_t dim, std::int64_t rank) { return keyway::wrap_dim(dim, rank); }
// Whether each of the dimensions stands there once.
KEYWAY_API bool is_permutation(IntArrayRef dims, std::int64_t rank, Refusal* why = nullptr);

KEYWAY_API bool broadcasts_to(IntArrayRef from, IntArrayRef to, Refusal* why = nullptr);
KEYWAY_API bool broadcastable(IntArrayRef a, IntArrayRef b, Refusal* why = nullptr);
KEYWAY_API bool broadcastable(ArrayRef<TensorBase> tensors, Refusal* why = nullptr);
// The shape that both broadcast to. Throws if there is none.
KEYWAY_API DimVector broadcast_sizes(IntArrayRef a, IntArrayRef b);
// Whether the tensors have `dim`, and equal sizes but for it. A tensor of shape [0] goes with all.
KEYWAY_API bool concatenable(ArrayRef<TensorBase> tensors, std::int64_t dim, Refusal* why = nullptr);
KEYWAY_API bool same_sizes(ArrayRef<TensorBase> tensors, Refusal* why = nullptr);
// Whether both lists have as many tensors, those at one index of the same sizes.
KEYWAY_API bool same_sizes(ArrayRef<TensorBase> a, ArrayRef<TensorBase> b, Refusal* why = nullptr);

// Sizes of the result of pooling: windows over `input` that each begin inside it or its left padding.
// Arguments with one item count for all dimensions. An answer that is not positive means that the window does
// not fit.
KEYWAY_API DimVector pool_sizes(IntArrayRef input, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,
                                IntArrayRef dilation, bool ceil_mode, std::string_view text);
// The same of a convolution, or of the transpose of one. `input` and `kernel` are the sizes without batch and
// channels.
KEYWAY_API DimVector conv_sizes(IntArrayRef input, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,
                                IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
                                std::string_view text);

}  // namespace keyway::inline v1::contract
