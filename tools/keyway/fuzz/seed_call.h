// The call that a campaign starts from: an operator's example.
#pragma once

#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/tools/keyway/fuzz/value.h>

#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1::tools {

// The arguments of the operator's example, with results of the right dtype for an out= overload. An operator without an
// example gets small tensors and numbers.
std::vector<Value> seed_call(const OperatorHandle& op);
// Those of "(arguments)" or "(arguments) == value", an example as entries of schemas have it; an out= overload takes
// that of the overload that returns what it writes. Throws std::runtime_error for arguments that the operator does not
// have.
std::vector<Value> values_of_example(const OperatorHandle& op, std::string_view text);

std::vector<std::string> argument_names(const OperatorHandle& op);

}  // namespace keyway::inline v1::tools
