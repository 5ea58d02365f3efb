// Gradients of dual tensors: dual themselves, with the derivative of the gradient as tangent.
#pragma once

#include <keyway/tensor.h>

#include <vector>

namespace keyway::inline v1::forward {

// autograd::grad where one of the tensors is dual. Inputs stand for their primals.
std::vector<Tensor> grad_of_duals(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                                  const std::vector<Tensor>& grad_outputs, bool retain_graph, bool create_graph,
                                  bool allow_unused);

}  // namespace keyway::inline v1::forward
