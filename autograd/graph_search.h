// What a graph leads to.
#pragma once

#include <keyway/tensor.h>

#include <vector>

namespace keyway::inline v1::autograd {

// Whether gradients of the outputs would flow to leaves that are not reached through one of the inputs. If not, the
// gradients by the inputs depend on nothing that can be differentiated by.
KEYWAY_API bool depends_on_others(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs);

}  // namespace keyway::inline v1::autograd
