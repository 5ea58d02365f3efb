// Calls without data, which tell what operators give.
#pragma once

#include <keyway/graph/graph.h>

#include <optional>

namespace keyway::inline v1::graph {

// Makes a call whose tensors are on Meta; one that says where its results go, or has no tensors that do, runs there,
// too. Returns the device that it named.
std::optional<Device> call_on_meta(const OperatorEntry& op, Stack& stack, bool has_tensors);

// A tensor of that geometry without data, over `storage`, which has room for it.
TensorBase meta_tensor(const Storage& storage, const TensorInfo& info);

// Lets each value be what the calls give for the inputs as they are described, each in memory of its own. Throws
// keyway::Error for what an operator refuses, and for results whose sizes depend on elements.
KEYWAY_API void infer_values(Graph& graph);

}  // namespace keyway::inline v1::graph
