// Contracts as C++: what a guard checks, in the order of the entry, and what it says of a failure.
#pragma once

#include <keyway/codegen/model/model.h>

#include <cstddef>
#include <string>

namespace keyway::inline v1 {

// The statements of an operator's `requires`, indented. They read the arguments by their names.
std::string contract_statements(const Op& op, std::size_t indent);

// Whether a contract calls an operator, and so makes its plan.
bool calls_operators(const Op& op);

}  // namespace keyway::inline v1
