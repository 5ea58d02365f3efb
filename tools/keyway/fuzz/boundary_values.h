// Boundary values of arguments that are no tensors.
#pragma once

#include <keyway/core/schema/type.h>
#include <keyway/tools/keyway/fuzz/value.h>

#include <vector>

namespace keyway::inline v1::tools {

// Integers at which sizes, strides, indices, divisions and products go wrong.
const std::vector<std::int64_t>& boundary_integers();
const std::vector<double>& boundary_floats();

// Values of a type other than Tensor and its lists, around the one that the seed has; of every tag, the wrong ones too.
std::vector<Value> boundary_values(SchemaType type, const Value& seed);

}  // namespace keyway::inline v1::tools
