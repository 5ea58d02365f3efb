// leave_op: what becomes of an exception on its way out of a kernel.
#pragma once

#include <keyway/dispatch/boxing.h>
#include <keyway/dispatch/kernel.h>

#include <string>
#include <type_traits>

namespace keyway::inline v1 {

namespace detail {

using PrintArgument = std::string (*)(const void*);

template <typename T>
std::string print_argument(const void* argument) {
  const T& value = *static_cast<const T*>(argument);
  if constexpr (std::is_same_v<T, TensorBase>) {
    return describe(value);
  } else {
    return to_string(box(value));
  }
}

// Where the arguments of a call stand, and how each is written: what an error text may need of them.
struct CallArguments {
  const void* const* values;
  const PrintArgument* print;
};

[[noreturn]] KEYWAY_API KEYWAY_COLD void leave_op(const KernelBase& kernel, CallArguments arguments);

}  // namespace detail

// Called in the catch block of a kernel, whose operator takes `args`: the current exception goes on as a keyway::Error
// that names the operator and, where it says nothing of an argument, all of them with their values:
//
//   mul.Tensor: shapes [2] and [3] do not broadcast: dimension 0 is 2 and 3; given self = float32[2] on cpu, ...
//
// What memory could not hold becomes an error of kind OutOfMemory; exceptions of other types pass as they are.
template <typename... Args>
[[noreturn]] KEYWAY_COLD void leave_op(const KernelBase& kernel, const Args&... args) {
  static constexpr detail::PrintArgument kPrint[sizeof...(Args) + 1] = {detail::print_argument<Args>...};
  const void* const values[sizeof...(Args) + 1] = {&args...};
  detail::leave_op(kernel, {values, kPrint});
}

}  // namespace keyway::inline v1
