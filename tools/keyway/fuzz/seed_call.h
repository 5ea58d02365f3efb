// The call that a campaign starts from: an operator's example.
#pragma once

#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/tools/keyway/fuzz/value.h>

#include <string>
#include <vector>

namespace keyway::inline v1::tools {

// The arguments of the operator's example, with results of the right dtype for an out= overload. An operator without an
// example gets small tensors and numbers.
std::vector<Value> seed_call(const OperatorHandle& op);

std::vector<std::string> argument_names(const OperatorHandle& op);

}  // namespace keyway::inline v1::tools
