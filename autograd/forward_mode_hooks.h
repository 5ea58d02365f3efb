// What autograd asks of forward mode, which stands above it and is linked only where it is used.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/tensor.h>

#include <vector>

namespace keyway::inline v1::autograd {

struct ForwardModeHooks {
  // autograd::grad() where one of the tensors is dual.
  std::vector<Tensor> (*grad)(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                              const std::vector<Tensor>& grad_outputs, bool retain_graph, bool create_graph,
                              bool allow_unused);
  // forward::unwrap_if_ended.
  TensorBase (*unwrap_if_ended)(const TensorBase& tensor);
};

// Said by forward mode as its first level begins, before there is a dual tensor; it is so from then on.
KEYWAY_API void set_forward_mode_hooks(const ForwardModeHooks& hooks);
// Requires: there has been a dual tensor.
const ForwardModeHooks& forward_mode_hooks();

}  // namespace keyway::inline v1::autograd
