// What is wrong with the arguments of a boxed call: asked once something is.
#pragma once

#include <keyway/dispatch/kernel.h>
#include <keyway/dispatch/operator_entry.h>

#include <string>

namespace keyway::inline v1::detail {

// "argument 'alpha' takes Scalar, but got str": of the first value on top of the stack that its argument cannot be;
// empty if all can. Requires: the operator's arguments are on top of the stack.
std::string wrong_argument(const OperatorEntry& op, const Stack& stack);

}  // namespace keyway::inline v1::detail
