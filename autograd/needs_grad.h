// Whether a call must be recorded, and the edges of its node: for kernels at Autograd that are generated, and for
// Function.
#pragma once

#include <keyway/autograd/saved_variable.h>
#include <keyway/autograd/variable.h>
#include <keyway/core/keys/thread_state.h>

namespace keyway::inline v1::autograd {

namespace detail {
// The key, which every tensor that requires grad has, is asked for first: that tests one bit, and an undefined tensor,
// which cannot be asked anything else, has no keys.
inline bool requires_grad(const TensorBase& tensor) {
  return tensor.key_set().has(Functionality::Autograd) && tensor.requires_grad();
}
inline bool requires_grad(ArrayRef<TensorBase> tensors) {
  for (const TensorBase& tensor : tensors) {
    if (requires_grad(tensor)) return true;
  }
  return false;
}
inline void add_edges(Node& node, const TensorBase& tensor) {
  node.add_next_edge(tensor.defined() ? gradient_edge(tensor) : Edge{});
}
inline void add_edges(Node& node, ArrayRef<TensorBase> tensors) {
  for (const TensorBase& tensor : tensors) add_edges(node, tensor);
}
}  // namespace detail

// Whether a call with these differentiable inputs must be recorded.
template <typename... Inputs>
bool needs_grad(const Inputs&... inputs) {
  return grad_enabled() && (detail::requires_grad(inputs) || ...);
}

// One edge for each input, one for each element of a list.
template <typename... Inputs>
void collect_edges(Node& node, const Inputs&... inputs) {
  (detail::add_edges(node, inputs), ...);
}

}  // namespace keyway::inline v1::autograd
