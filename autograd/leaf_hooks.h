// Whether the hooks of a leaf are still those that they were: who keeps what a backward did, as a graph does, asks.
#pragma once

#include <keyway/core/tensor/tensor_base.h>

#include <cstdint>

namespace keyway::inline v1::autograd {

// Whether a leaf has ever had a hook, of its gradient or after that was accumulated, or its node has one that is called
// afterwards.
KEYWAY_API bool has_leaf_hooks(const TensorBase& leaf);

// How often hooks of leaves were added in the process, and told of by the function below, for those that another
// language keeps: adds and removes them.
KEYWAY_API std::uint64_t leaf_hook_changes();
KEYWAY_API void note_leaf_hook_change();

}  // namespace keyway::inline v1::autograd
