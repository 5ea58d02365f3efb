// leave_op: what becomes of an exception on its way out of a kernel.
//
// The catch block stands where a kernel is called and not in the kernel, which would need a frame for it and lose its
// tail calls; a caller keeps its arguments at hand instead, which costs it at most some instructions.
#pragma once

#include <keyway/core/base/macros.h>

#include <type_traits>

namespace keyway::inline v1 {

class OperatorEntry;

namespace detail {

// `arguments` are the addresses of the values.
[[noreturn]] KEYWAY_API KEYWAY_COLD void leave_op(const OperatorEntry& op, const void* const* arguments);

}  // namespace detail

// Called in a catch block around a kernel, whose operator takes `args`: the current exception goes on as a
// keyway::Error that names the operator and, of the innermost one, lists the arguments with their values:
//
//   mul.Tensor: shapes [2] and [3] do not broadcast: dimension 0 is 2 and 3; given self = float32[2] on cpu, ...
//
// What memory could not hold becomes an error of kind OutOfMemory; exceptions of other types pass as they are. The
// arguments are passed as the kernel got them: no address of theirs is taken where no error occurs.
template <typename... Args>
[[noreturn]] KEYWAY_COLD void leave_op(const OperatorEntry& op, std::type_identity_t<Args>... args) {
  const void* const values[sizeof...(Args) + 1] = {&args...};
  detail::leave_op(op, values);
}

}  // namespace keyway::inline v1
