// Tangents of forward mode compared with differences.
#pragma once

#include <keyway/autograd/gradcheck.h>

namespace keyway::inline v1::forward {

// As autograd::gradcheck, of forward mode: compares the tangents of every result with central differences of width
// 2 * eps, along each element of every input that requires a gradient, of complex ones along i times it, too. Results
// that are neither floating nor complex are passed over. Costs three calls for each element.
KEYWAY_API bool gradcheck(const autograd::CheckedFunction& fn, const autograd::variable_list& inputs, double eps = 1e-6,
                          double atol = 1e-5, double rtol = 1e-3);

}  // namespace keyway::inline v1::forward
