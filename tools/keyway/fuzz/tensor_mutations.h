// The ways in which a tensor argument is changed.
#pragma once

#include <keyway/tools/keyway/fuzz/random.h>
#include <keyway/tools/keyway/fuzz/value.h>

#include <vector>

namespace keyway::inline v1::tools {

// Every recipe one step from `seed`: another rank, size, dtype, device, stride, offset, storage or elements.
std::vector<TensorRecipe> tensor_mutations(const TensorRecipe& seed);

// Values of a Tensor argument, an optional one, or a list of them; of wrong tags too.
std::vector<Value> tensor_values(const Value& seed);

// The same call in other sizes: equal sizes of all tensors, and integers equal to one of them, become equal others, so
// that what fitted together still does.
void rename_sizes(std::vector<Value>& values, Random& random);
// One random shape for all tensors, here and there with a dimension of one or one less.
void same_shape(std::vector<Value>& values, Random& random);

}  // namespace keyway::inline v1::tools
