// What of an operator's results its definition fixes, where that is not all: signs of singular vectors are anybody's
// choice, say, and the order of what is not to be sorted.
#pragma once

#include <keyway/tools/keyway/conform/conform_call.h>
#include <keyway/tools/keyway/fuzz/value.h>

#include <vector>

namespace keyway::inline v1::tools {

// Whether the call's results are to be compared by defined_parts(), and gradients not at all.
bool has_choice(const ConformOperator& op, const std::vector<Value>& values);
// Tensors of the CPU that any two right calls have in common; none of a call that has no results. Requires:
// has_choice().
std::vector<TensorBase> defined_parts(const ConformOperator& op, const ConformCall& call);
// Whether gradients have no digits: of logcumsumexp their logarithms are added to its elements, beside which they may
// be nothing, and what is left of complex ones depends on the order in which they are added up.
bool has_lost_gradients(const ConformOperator& op, const std::vector<Value>& values);
// Whether an argument that is left out stands for something else on other devices.
bool has_default_of_device(const ConformOperator& op, const std::vector<Value>& values);

}  // namespace keyway::inline v1::tools
