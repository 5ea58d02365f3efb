// Calls of operators by name.
#pragma once

#include <keyway/dispatch/call/ivalue.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/stable/abi.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1::abi {

using Stack = std::vector<IValue>;

// The operator of a full name. Throws keyway::Error(NotImplemented) if there is none.
OperatorHandle operator_of(const std::string& name);

// Calls an operator of Keyway's own namespace, "add.Tensor", with values for all of its arguments.
Stack call(std::string_view name, std::initializer_list<IValue> arguments);

// Gives the tensors among results to the caller, in their order.
void give_results(const Stack& results, std::initializer_list<AtenTensorHandle*> handles);

}  // namespace keyway::inline v1::abi
