// What rules of dimensions, views and reductions share. Where the batch is in front, an example's dimension 0 is
// dimension 1; and many take `self` alone.
#pragma once

#include <keyway/batching/vmap_rules.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace keyway::inline v1::batching {

using Ints = std::vector<std::int64_t>;

// Whether an argument of that name has dimensions of a tensor.
bool names_dimensions(std::string_view argument);
// Dimensions of an example's tensor as those of all examples'. False if one is out of range.
bool shift(Ints& dims, std::int64_t rank);
// The same of an argument, an integer or a list of them; any other stays.
bool shift(IValue& argument, std::int64_t rank);

Ints dims_from(std::int64_t first, std::int64_t count);

// `self` of a call that has only that tensor; null if that one is not of the batch.
const TensorBase* only_value(Call& call);
// Makes the call, with the values of all examples in place of `self`.
bool call_of_self(Call& call, const TensorBase& self);
// Calls another operator in place of the call's.
bool call_on(const OperatorEntry& op, Call& call, Stack arguments);

}  // namespace keyway::inline v1::batching
