// gradcheck: compares gradients with differences. For tests of operators and of a user's own Function.
#pragma once

#include <keyway/autograd/node.h>

#include <functional>

namespace keyway::inline v1::autograd {

// A function of tensors to check. It must give the same results whenever it is called with the same inputs.
using CheckedFunction = std::function<variable_list(const variable_list& inputs)>;

// Compares the gradients of every result with central differences of width 2 * eps, for every input that requires a
// gradient. Such inputs are leaves of float64 or complex128 on the CPU, no two elements in one memory location; their
// elements are changed and restored. Results may be on other devices. Complex tensors are checked as their real and
// imaginary parts, which are named by one dimension more at the end. Results without a history must not change with an
// input. Returns true, or throws keyway::Error(Autograd) with the first elements that differ by more than atol + rtol *
// |difference|. Costs a backward for each element of the results and two calls for each of the inputs.
KEYWAY_API bool gradcheck(const CheckedFunction& fn, const variable_list& inputs, double eps = 1e-6, double atol = 1e-5,
                          double rtol = 1e-3);

// The same for the gradients themselves, as functions of the inputs and of the gradients of the results.
KEYWAY_API bool gradgradcheck(const CheckedFunction& fn, const variable_list& inputs, double eps = 1e-6,
                              double atol = 1e-5, double rtol = 1e-3);

}  // namespace keyway::inline v1::autograd
