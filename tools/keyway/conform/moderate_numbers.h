// Calls whose numbers are neither great nor tiny.
#pragma once

#include <keyway/tools/keyway/fuzz/value.h>

#include <vector>

namespace keyway::inline v1::tools {

// Whether all numbers of tensors and of other arguments are zero or between 1 / most and most in size, so that products
// of a few of them neither overflow nor become tiny. Elements that are no finite numbers pass, since they are the same
// in every precision.
bool is_moderate(const std::vector<Value>& values, double most);
// Integers of other arguments brought below 64 in size: what is done as often as one says ends soon.
void make_integers_small(std::vector<Value>& values);

}  // namespace keyway::inline v1::tools
