// Contracts: how a generated guard says which one failed. The predicates that contracts call are in
// predicates.h.
#pragma once

#include <keyway/core/base/error.h>
#include <keyway/core/dtype/dtype_set.h>
#include <keyway/core/dtype/scalar.h>
#include <keyway/core/tensor/tensor_base.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace keyway::inline v1 {

// A part of a contract that a person needs to see to understand the failure: `self.size(1)` and its value.
struct ContractValue {
  std::string_view text;
  FormatArg value;
};

// Throws "requires self.size(1) == mat2.size(0), but self.size(1) is 3 and mat2.size(0) is 4".
[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_contract(std::string_view contract, ArrayRef<ContractValue> values,
                                                       ErrorKind kind = ErrorKind::Value);
// Why a predicate says no. The kind is what the contract has asked for, or what the predicate knows better: a dimension
// that is not there is an error of an index.
struct Refusal {
  ErrorKind kind = ErrorKind::Value;
  std::string text = {};
};
// Throws "requires concatenable(tensors, dim), but <why>".
[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_predicate(std::string_view contract, const Refusal& why);
// Throws for arithmetic in a contract that leaves 64 bits, or a division by zero.
[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_arithmetic(std::string_view contract);

namespace detail {
[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_undefined(std::string_view argument);
[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_argument_dtype(std::string_view argument, ScalarType dtype, DtypeSet set);
[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_common_dtype(ScalarType common, DtypeSet set);
[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_same_dtype(std::string_view argument, ScalarType dtype,
                                                         std::string_view like, ScalarType wanted);
[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_number(std::string_view argument, const Scalar& number, ScalarType dtype);
}  // namespace detail

inline void check_defined(std::string_view argument, const TensorBase& tensor) {
  if (!tensor.defined()) [[unlikely]]
    detail::fail_undefined(argument);
}
inline void check_defined(std::string_view argument, ArrayRef<TensorBase> tensors) {
  for (const TensorBase& tensor : tensors) check_defined(argument, tensor);
}

// --- Devices

// An argument and what it is called.
struct NamedTensor {
  const char* name;
  const TensorBase& tensor;
};

namespace detail {
KEYWAY_API Device common_device_slowly(ArrayRef<NamedTensor> tensors, bool numbers_from_cpu);

inline Device common_device(std::initializer_list<NamedTensor> tensors, bool numbers_from_cpu) {
  const TensorBase& first = tensors.begin()->tensor;
  bool alike = first.defined();
  for (const NamedTensor& each : tensors) {
    alike = alike && each.tensor.defined() && each.tensor.device() == first.device();
  }
  if (alike) [[likely]]
    return first.device();
  return common_device_slowly({tensors.begin(), tensors.size()}, numbers_from_cpu);
}
}  // namespace detail

// The device that all defined tensors are on; tensors without dimensions may be on the CPU beside others.
// Undefined ones do not count. Requires: one of them is defined.
inline Device common_device(std::initializer_list<NamedTensor> tensors) { return detail::common_device(tensors, true); }
// The same without the exception.
inline Device same_device(std::initializer_list<NamedTensor> tensors) { return detail::common_device(tensors, false); }
// Of a list: the device of its defined tensors. Throws keyway::Error if it has none.
KEYWAY_API Device same_device(const char* argument, ArrayRef<TensorBase> tensors);
// Checks that the defined tensors of a list are on `device`.
KEYWAY_API void check_device(const char* argument, ArrayRef<TensorBase> tensors, Device device);
inline void check_device(const char* argument, const TensorBase& tensor, Device device) {
  check_device(argument, {&tensor, 1}, device);
}

// --- Dtypes

inline void check_dtype(std::string_view argument, ScalarType dtype, DtypeSet set) {
  if (!set.contains(dtype)) [[unlikely]]
    detail::fail_argument_dtype(argument, dtype, set);
}
// Undefined tensors have no dtype to check.
inline void check_dtype(std::string_view argument, const TensorBase& tensor, DtypeSet set) {
  if (tensor.defined()) check_dtype(argument, tensor.dtype(), set);
}
inline void check_dtype(std::string_view argument, ArrayRef<TensorBase> tensors, DtypeSet set) {
  for (const TensorBase& tensor : tensors) check_dtype(argument, tensor, set);
}
// The dtype that the operands promote to.
inline void check_common_dtype(ScalarType common, DtypeSet set) {
  if (!set.contains(common)) [[unlikely]]
    detail::fail_common_dtype(common, set);
}
// Checks that a tensor, if it is defined, has the dtype of the argument `like`.
inline void check_same_dtype(std::string_view argument, const TensorBase& tensor, std::string_view like,
                             ScalarType dtype) {
  if (tensor.defined() && tensor.dtype() != dtype) [[unlikely]] {
    detail::fail_same_dtype(argument, tensor.dtype(), like, dtype);
  }
}
inline void check_same_dtype(std::string_view argument, ArrayRef<TensorBase> tensors, std::string_view like,
                             ScalarType dtype) {
  for (const TensorBase& tensor : tensors) check_same_dtype(argument, tensor, like, dtype);
}
// Checks that a number which takes no part in promotion can be computed with in `dtype`: no fraction among
// integers, no complex number among real ones.
inline void check_number(std::string_view argument, const Scalar& number, ScalarType dtype) {
  if (number.is_integral(true) || is_complex(dtype) || (number.is_floating_point() && !is_integral(dtype, true)))
      [[likely]] {
    return;
  }
  detail::fail_number(argument, number, dtype);
}
inline void check_number(std::string_view argument, const std::optional<Scalar>& number, ScalarType dtype) {
  if (number) check_number(argument, *number, dtype);
}
// The dtype of the first tensor of a list. Throws keyway::Error if it has none.
KEYWAY_API ScalarType dtype_of(std::string_view argument, ArrayRef<TensorBase> tensors);
// Checks the layout that is asked of a new tensor.
KEYWAY_API void check_layout(const std::optional<Layout>& layout);

// Checked arithmetic of contracts: a + b and so on; throws fail_arithmetic(contract).
namespace contract {
inline std::int64_t add(std::int64_t a, std::int64_t b, std::string_view text) {
  std::int64_t r = 0;
  if (__builtin_add_overflow(a, b, &r)) [[unlikely]]
    fail_arithmetic(text);
  return r;
}
inline std::int64_t sub(std::int64_t a, std::int64_t b, std::string_view text) {
  std::int64_t r = 0;
  if (__builtin_sub_overflow(a, b, &r)) [[unlikely]]
    fail_arithmetic(text);
  return r;
}
inline std::int64_t mul(std::int64_t a, std::int64_t b, std::string_view text) {
  std::int64_t r = 0;
  if (__builtin_mul_overflow(a, b, &r)) [[unlikely]]
    fail_arithmetic(text);
  return r;
}
// Quotient and remainder as C++ has them; division by zero and INT64_MIN / -1 throw.
inline std::int64_t div(std::int64_t a, std::int64_t b, std::string_view text) {
  if (b == 0 || (a == INT64_MIN && b == -1)) [[unlikely]]
    fail_arithmetic(text);
  return a / b;
}
inline std::int64_t mod(std::int64_t a, std::int64_t b, std::string_view text) {
  if (b == 0) [[unlikely]]
    fail_arithmetic(text);
  return b == -1 ? 0 : a % b;
}
}  // namespace contract

}  // namespace keyway::inline v1
