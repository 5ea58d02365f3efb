// What the generated suite does not expect of gradients, each with the reason.
#pragma once

#include <keyway/tests/ops/samples.h>

#include <string_view>

// Of a library out of tree: the operators that keyway_test_ops was told of, with blanks between.
#if !defined(KEYWAY_NO_GRADCHECK)
#define KEYWAY_NO_GRADCHECK ""
#endif

namespace keyway::inline v1::testing {

// Arguments that a derivative is not taken by although the result changes with them.
bool is_constant(std::string_view op, std::string_view argument);
// Operators whose implicit gradient is none.
bool is_without_gradient(std::string_view op);
// Operators that are not functions of values.
bool is_exempt(std::string_view op);
// Decompositions and equations, which samples have no or no unique results for.
bool is_of_matrices(std::string_view op);
// Calls whose gradient is another than the derivative.
bool has_other_gradient(const Sample& sample);

}  // namespace keyway::inline v1::testing
