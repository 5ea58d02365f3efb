#include <keyway/autograd/graph_search.h>
#include <keyway/autograd/node_table.h>
#include <keyway/autograd/variable.h>

namespace keyway::inline v1::autograd {

bool reaches_other_leaves(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs) {
  NodeTable seen;
  // Their gradients go no further.
  for (const Tensor& input : inputs)
    if (input.defined() && input.requires_grad()) seen.at(gradient_edge(input).node.get());
  std::vector<Node*> open;
  const auto visit = [&](Node* node) {
    if (node == nullptr || seen.contains(node)) return;
    seen.at(node);
    open.push_back(node);
  };
  for (const Tensor& output : outputs)
    if (output.defined() && output.requires_grad()) visit(gradient_edge(output).node.get());
  while (!open.empty()) {
    Node* node = open.back();
    open.pop_back();
    if (node->next_edges().empty()) return true;
    for (const Edge& edge : node->next_edges()) visit(edge.node.get());
  }
  return false;
}

}  // namespace keyway::inline v1::autograd
