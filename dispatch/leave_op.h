// enter_op and leave_op: how a kernel is called, and what becomes of an exception on its way out of it.
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

[[noreturn]] KEYWAY_API KEYWAY_COLD void leave_op(const OperatorEntry& op, CallArguments arguments);

}  // namespace detail

// Called in a catch block around a kernel, whose operator takes `args`: the current exception goes on as a
// keyway::Error that names the operator and, where it says nothing of an argument, all of them with their values:
//
//   mul.Tensor: shapes [2] and [3] do not broadcast: dimension 0 is 2 and 3; given self = float32[2] on cpu, ...
//
// What memory could not hold becomes an error of kind OutOfMemory; exceptions of other types pass as they are. The
// arguments are passed as the kernel got them: no address of theirs is taken where no error occurs.
template <typename... Args>
[[noreturn]] KEYWAY_COLD void leave_op(const OperatorEntry& op, std::type_identity_t<Args>... args) {
  static constexpr detail::PrintArgument kPrint[sizeof...(Args) + 1] = {
      detail::print_argument<std::remove_cvref_t<Args>>...};
  const void* const values[sizeof...(Args) + 1] = {&args...};
  detail::leave_op(op, {values, kPrint});
}

// Calls a kernel. The catch block stands here and not in the kernel, which would need a frame for it and lose its tail
// calls; a caller keeps its arguments at hand instead, which costs it at most some instructions.
template <typename R, typename... Args>
[[gnu::always_inline]] inline R enter_op(const OperatorEntry& op, const Kernel<R(Args...)>& kernel, DispatchKeySet keys,
                                         std::type_identity_t<Args>... args) {
  try {
    return kernel.fn(kernel, keys, static_cast<Args>(args)...);
  } catch (...) {
    leave_op<Args...>(op, static_cast<Args>(args)...);
  }
}

}  // namespace keyway::inline v1
