// leave_op (leave_op.h) for who calls a function of a backend by itself, and has boxed arguments of its operator.
#pragma once

#include <keyway/dispatch/call/ivalue.h>
#include <keyway/dispatch/call/kernel.h>
#include <keyway/dispatch/call/operator_entry.h>

namespace keyway::inline v1 {

// Called in a catch block: the current exception goes on as it would leave a call of the operator.
[[noreturn]] KEYWAY_API KEYWAY_COLD void leave_boxed_op(const OperatorEntry& op, const Stack& arguments);

}  // namespace keyway::inline v1
