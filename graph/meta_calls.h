// Calls without data, which tell what operators give.
#pragma once

#include <keyway/graph/graph.h>

#include <optional>

namespace keyway::inline v1::graph {

// Makes a call whose tensors are on Meta. Its argument for the device of results becomes Meta if it names a device, or
// if there are no tensors that say where the call runs. Returns the device that it named.
std::optional<Device> call_on_meta(const OperatorEntry& op, Stack& stack, bool has_tensors);

// A tensor of that geometry without data, over `storage`, which has room for it.
TensorBase meta_tensor(const Storage& storage, const TensorInfo& info);

// Fills in what each value is: runs the calls on Meta, for inputs of the graph's dtypes and sizes that share no memory.
// Throws keyway::Error for what an operator refuses, and for results whose sizes depend on elements.
KEYWAY_API void infer_values(Graph& graph);

}  // namespace keyway::inline v1::graph
