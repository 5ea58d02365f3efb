// Whether a graph leads to leaves besides given inputs.
#pragma once

#include <keyway/tensor.h>

#include <vector>

namespace keyway::inline v1::autograd {

// Whether gradients of the outputs would flow to leaves that are not reached through one of the inputs. If not, the
// gradients by the inputs depend on nothing that can be differentiated by.
KEYWAY_API bool reaches_other_leaves(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs);

}  // namespace keyway::inline v1::autograd
