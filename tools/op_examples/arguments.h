// Examples of schema entries as the arguments of boxed calls.
#pragma once

#include <keyway/dispatch/call/ivalue.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/tools/op_examples/literal.h>

namespace keyway::inline v1::tools {

// A tensor of numbers in nested lists: float32, bool or int64, as its elements are written.
TensorBase tensor_of(const Literal& literal);
// The stack of a call with literal arguments; defaults filled in. Tensors lie on `device`: on Meta they are copied
// there.
Stack make_arguments(const OperatorEntry& op, const Literal& call, DeviceType device = DeviceType::CPU);

}  // namespace keyway::inline v1::tools
