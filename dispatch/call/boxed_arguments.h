// What is wrong with the arguments of a boxed call, asked once something is, and with what a boxed kernel left.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/core/schema/schema.h>
#include <keyway/dispatch/call/kernel.h>
#include <keyway/dispatch/call/operator_entry.h>

#include <cstddef>
#include <string>

namespace keyway::inline v1 {

// Whether an operator takes objects of registered classes, by themselves or in lists or dictionaries. Tools that make
// arguments up have none.
KEYWAY_API bool takes_objects(const FunctionSchema& schema);

}  // namespace keyway::inline v1

namespace keyway::inline v1::detail {

// "argument 'alpha' takes Scalar, but got str": of the first value on top of the stack that its argument cannot be;
// empty if all can. Requires: the operator's arguments are on top of the stack.
std::string wrong_argument(const OperatorEntry& op, const Stack& stack);

// Throws keyway::Error(Type) unless the values from `first` on are as many as the operator has results, each of its
// result's type.
void check_results(const OperatorEntry& op, const Stack& stack, std::size_t first);

}  // namespace keyway::inline v1::detail
