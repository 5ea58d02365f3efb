// Calls like another, with elements that tell more.
#pragma once

#include <keyway/tools/keyway/fuzz/value.h>

#include <vector>

namespace keyway::inline v1::tools {

// With numbers that all differ, in the range of those of each tensor.
std::vector<Value> with_spread_elements(std::vector<Value> values);
// Of a pointwise operator: with tensors of one dimension that have many elements, from -3 to 3.
std::vector<Value> with_many_elements(std::vector<Value> values);

}  // namespace keyway::inline v1::tools
