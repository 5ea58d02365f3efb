// Contracts: how a generated guard says which one failed. The predicates that contracts call are in
// predicates.h.
#pragma once

#include <keyway/core/base/error.h>
#include <keyway/core/dtype_set.h>
#include <keyway/core/tensor_base.h>

#include <string_view>

namespace keyway::inline v1 {

// A part of a contract that a person needs to see to understand the failure: `self.size(1)` and its value.
struct ContractValue {
  std::string_view text;
  FormatArg value;
};

// Throws "requires self.size(1) == mat2.size(0), but self.size(1) is 3 and mat2.size(0) is 4".
[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_contract(std::string_view contract,
                                                       ArrayRef<ContractValue> values);
// Throws "requires concatenable(tensors, dim), but <why>".
[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_predicate(std::string_view contract, std::string_view why);
// Throws for arithmetic in a contract that leaves 64 bits, or a division by zero.
[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_arithmetic(std::string_view contract);

namespace detail {
[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_undefined(std::string_view argument);
[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_argument_dtype(std::string_view argument, ScalarType dtype,
                                                             DtypeSet set);
}  // namespace detail

inline void check_defined(std::string_view argument, const TensorBase& tensor) {
  if (!tensor.defined()) [[unlikely]]
    detail::fail_undefined(argument);
}
inline void check_defined(std::string_view argument, ArrayRef<TensorBase> tensors) {
  for (const TensorBase& tensor : tensors) check_defined(argument, tensor);
}
inline void check_dtype(std::string_view argument, ScalarType dtype, DtypeSet set) {
  if (!set.contains(dtype)) [[unlikely]]
    detail::fail_argument_dtype(argument, dtype, set);
}

// All defined tensors on one device; tensors without dimensions may be on the CPU beside others. Gives the
// device. `names` are the arguments', for the error. Requires: the first tensor or one after it is defined.
KEYWAY_API Device common_device(ArrayRef<const TensorBase*> tensors, ArrayRef<const char*> names);

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
