// Tensors that may be given as numbers. Where PyTorch has an overload for numbers, or Python's calls
// take one for a tensor, and Keyway's schema has tensors only, a number becomes a tensor without dimensions.
#pragma once

#include <keyway/core/schema/number_arguments.h>
#include <keyway/dispatch/registry/dispatcher.h>

#include <cstddef>
#include <vector>

namespace keyway::inline v1::python {

// Replaces the numbers at these positions of the stack by tensors of the dtype that the call's result is computed in:
// numbers count less than tensors, as everywhere. Throws keyway::Error for a number that the dtype cannot hold.
void numbers_to_tensors(const FunctionSchema& schema, const std::vector<std::size_t>& positions, Stack& stack);

}  // namespace keyway::inline v1::python
