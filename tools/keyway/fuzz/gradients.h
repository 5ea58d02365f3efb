// Backward through what a fuzzed call has recorded.
#pragma once

#include <keyway/dispatch/call/ivalue.h>
#include <keyway/dispatch/call/kernel.h>

#include <string>

namespace keyway::inline v1::tools {

// What is wrong with the gradients that the results have; empty if nothing is or if nothing was recorded. Requires: the
// arguments are those of the call, and its leaves have no gradient yet.
std::string gradient_problem(const Stack& arguments, const Stack& results);

}  // namespace keyway::inline v1::tools
