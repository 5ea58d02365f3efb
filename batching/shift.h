// What rules of dimensions, views and reductions share. Where the batch is in front, an example's dimension 0 is
// dimension 1; and many take `self` alone.
#pragma once

#include <keyway/batching/vmap_rules.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace keyway::inline v1::batching {

using Ints = std::vector<std::int64_t>;

// Whether an argument of that name holds dimension indices.
bool names_dimensions(std::string_view argument);
// Dimensions of an example's tensor as those of all examples'. False if one is out of range.
bool shift(Ints& dims, std::int64_t rank);
// The same of an argument, an integer or a list of them; any other stays.
bool shift(IValue& argument, std::int64_t rank);

Ints dims_from(std::int64_t first, std::int64_t count);

// The value of `self` in a call that takes no other tensor; nothing if `self` is not batched at the call's level.
std::optional<TensorBase> batched_self(const VmapCall& call);
// Makes the call with `self`, the tensor of all examples, in place of the argument of that name.
bool call_with_self(VmapCall& call, const TensorBase& self);
// Calls the operator that the entry names as `counterpart`, in place of the call's own.
bool call_counterpart(VmapCall& call, Stack arguments);

}  // namespace keyway::inline v1::batching
